import { bin, deviation, quantile, rollups } from 'd3-array';

export function summarize(rows) {
  const byDay = rollups(
    rows,
    (group) => [0.1, 0.25, 0.5, 0.75, 0.9].map((q) => quantile(group, q, ({ value }) => value)),
    ({ day }) => day,
    ({ id }) => id % 7,
  );
  const bins = bin().thresholds(80)(rows.map(({ value }) => value));
  return {
    days: byDay.length,
    bins: bins.length,
    deviation: deviation(rows, ({ value }) => value),
  };
}

export function smooth(rows) {
  return rows.map((row, i) => {
    const near = rows.slice(Math.max(0, i - 60), i + 60);
    return { ...row, value: near.reduce((sum, { value }) => sum + value, 0) / near.length };
  });
}
