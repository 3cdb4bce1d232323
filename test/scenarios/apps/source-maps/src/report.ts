/** Types and comments go when it is built, and lines with them. */
interface Options {
  readonly millis: number;
}

const step = (total: number, i: number): number => (total * 31 + i) % 1_000_003;

export function renderReport({ millis }: Options): string {
  const end = performance.now() + millis;
  let total = 0;
  for (let i = 0; performance.now() < end; i++) total = step(total, i); // BLOCKS
  return String(total);
}
