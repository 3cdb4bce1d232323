// The latency of the health checks sent while one endpoint was busy, as two lines of small columns
// in the order of time.
import { quantile } from '../../tools/statistics.cjs';
import { millis, padEnd, padStart, paint, paintForWait } from './style.mjs';

const LEVELS = ' ▁▂▃▄▅▆▇█';
const EIGHTHS = LEVELS.length - 1; // in one line
const FIGURE_WIDTH = '  p50  0000 ms'.length;

/**
 * @param {number[]} latencies milliseconds
 * @param {number} fullScale the latency of a full column, the same for every endpoint of a report
 * @param {import('./waterfall.mjs').Columns} columns
 * @returns {string[]}
 */
export function healthLines(latencies, fullScale, columns) {
  const line = (label, part, name, value) =>
    ` ${padEnd(paint.dim(label), columns.label)} ${part}${paint.dim(`  ${name}`)}` +
    padStart(paintForWait(value)(millis(value)), FIGURE_WIDTH - name.length - 2);
  const { upper, lower } = sparkline(
    latencies,
    fullScale,
    columns.bar + columns.duration - FIGURE_WIDTH,
  );
  return [
    line('/healthcheck meanwhile', upper, 'p50', quantile(latencies, 0.5)),
    line(`  ${latencies.length} checks`, lower, 'max', Math.max(...latencies)),
  ];
}

/** Where there are more latencies than cells, a column shows the worst of those it stands for. */
function sparkline(latencies, fullScale, cells) {
  const width = Math.min(cells, latencies.length);
  let upper = '';
  let lower = '';
  for (let cell = 0; cell < width; cell++) {
    const from = Math.floor((cell * latencies.length) / width);
    const to = Math.floor(((cell + 1) * latencies.length) / width);
    const worst = Math.max(...latencies.slice(from, to));
    const height = Math.max(1, Math.round((worst / fullScale) * 2 * EIGHTHS));
    const color = paintForWait(worst);
    upper += color(LEVELS[Math.max(0, height - EIGHTHS)]);
    lower += color(LEVELS[Math.min(EIGHTHS, height)]);
  }
  return { upper: padEnd(upper, cells), lower: padEnd(lower, cells) };
}
