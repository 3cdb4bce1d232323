import { summarize } from '../lib/report.js';

export function getServerSideProps() {
  return { props: { total: summarize(4000).total } };
}

export default function Legacy({ total }) {
  return <p>{total}</p>;
}
