import { answer } from '../../../answers.js';

export const loader = ({ params }) => answer(params.what);

export default function What({ loaderData }) {
  return <p>hash {loaderData.hash}</p>;
}
