/** Types and comments go when it is built, and lines with them. */
interface Options {
  readonly goesOn: () => boolean;
}

const step = (total: number, i: number): number => (total * 31 + i) % 1_000_003;

export function renderReport({ goesOn }: Options): string {
  let total = 0;
  while (goesOn()) for (let i = 0; i < 100_000; i++) total = step(total, i); // BLOCKS
  return String(total);
}
