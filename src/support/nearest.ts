const MAX_LENGTH = 100;
const MISSING_AT_AN_END = 0.1;

/** The known name that a wrong one most resembles, for messages. */
export function nearestOf(name: string, known: readonly string[]): string {
  const wanted = name.slice(0, MAX_LENGTH).toLowerCase();
  const distances = known.map((one) => distanceOf(wanted, one.toLowerCase()));
  return known[distances.indexOf(Math.min(...distances))] ?? '';
}

/**
 * Levenshtein's: the letters that have to be added, taken away or changed. Those that are missing
 * at either end of `a` hardly count: `threshold` stands for `thresholdMillis`.
 */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j * MISSING_AT_AN_END);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + Number(a[i - 1] !== b[j - 1]);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return Math.min(...row.map((distance, j) => distance + (b.length - j) * MISSING_AT_AN_END));
}
