// The exported `event_loop.lag` histogram as bars, one for each bucket that was hit or lies between
// two that were.
import { histogramQuantile, LAG_METRIC } from '../telemetry-reader.mjs';
import {
  millis,
  padEnd,
  padStart,
  paint,
  paintForWait,
  plural,
  solidBar,
  spread,
} from './style.mjs';

const QUANTILES = { p50: 0.5, p90: 0.9, p99: 0.99 };

/** @returns {string[]} */
export function lagChart(lag, width) {
  const quantiles = Object.entries(QUANTILES).map(([name, fraction]) => ({
    name,
    millis: histogramQuantile(lag, fraction) * 1000,
  }));
  const barCells = width - 52;
  const largest = Math.max(...lag.counts);
  const rows = bucketsIn(lag).map(({ low, high, count }) => {
    const color = paintForWait(low);
    const marks = quantiles.filter((q) => q.millis > low && q.millis <= high).map((q) => q.name);
    return (
      padStart(bucketName(low, high), 18) +
      `  ${padEnd(count === 0 ? '' : color(solidBar((count / largest) * barCells)), barCells)}` +
      padStart(count.toLocaleString('en'), 7) +
      padStart(paint.dim(`${((100 * count) / lag.count).toFixed(1)} %`), 8) +
      (marks.length > 0 ? paint.title(`  ◂ ${marks.join(' ')}`) : '')
    );
  });
  const figures = quantiles.map(
    (q) => `${paint.dim(q.name)} ${paintForWait(q.millis)(millis(q.millis))}`,
  );
  const max = lag.max * 1000;
  if (lag.max !== undefined) figures.push(`${paint.dim('max')} ${paintForWait(max)(millis(max))}`);
  return [
    spread(
      `${paint.title(` ${LAG_METRIC}`)}${paint.dim('  how long an event has to wait for the loop')}`,
      paint.dim(plural(lag.count, 'sample')),
      width,
    ),
    ...rows,
    ` ${figures.join('   ')}${paint.dim('   (interpolated in their buckets)')}`,
  ];
}

/** From the first to the last bucket that was hit, bounds in milliseconds. */
function bucketsIn({ bounds, counts, max }) {
  const buckets = counts.map((count, i) => ({
    low: (bounds[i - 1] ?? 0) * 1000,
    high: (bounds[i] ?? max ?? Infinity) * 1000,
    count,
  }));
  const hit = buckets.map(({ count }) => count > 0);
  return buckets.slice(hit.indexOf(true), hit.lastIndexOf(true) + 1);
}

function bucketName(low, high) {
  const short = (value) => Number(value.toPrecision(3)).toString();
  return high === Infinity ? `over ${short(low)} ms` : `${short(low)} – ${short(high)} ms`;
}
