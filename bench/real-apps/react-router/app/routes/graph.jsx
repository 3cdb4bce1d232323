import { layOut } from '../lib/layout.js';

export const loader = async () => ({ nodes: layOut(700) });

export default function Graph({ loaderData }) {
  return <p>{loaderData.nodes.map(({ x, y }) => `${x},${y}`).join(' ')}</p>;
}
