/** Quadratic, as reports are. */
export function summarize(count) {
  let total = 0;
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < count; j++) total = (total + i * j) % 1_000_003;
  }
  return { total };
}
