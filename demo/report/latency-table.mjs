// All endpoints side by side: how long each blocked the event loop, and what that did to a health
// check of the same process.
import { quantile } from '../../tools/statistics.cjs';
import { blocksOf } from '../telemetry-reader.mjs';
import { millis, padEnd, padStart, paint, paintForWait, solidBar, truncate } from './style.mjs';

const COLUMNS = { endpoint: 29, blocked: 11, kind: 12, p50: 9, max: 9 };
const USED = Object.values(COLUMNS).reduce((sum, width) => sum + width, 2);

/** @returns {string[]} */
export function latencyTable(phases, width) {
  const barCells = width - USED;
  const fullScale = Math.max(...phases.flatMap(({ health }) => health));
  const heading =
    padEnd(paint.title(' endpoint under load'), 1 + COLUMNS.endpoint) +
    padStart('blocked', COLUMNS.blocked) +
    `  ${padEnd('as', COLUMNS.kind - 2)}` +
    padStart('p50', COLUMNS.p50) +
    padStart('max', COLUMNS.max) +
    paint.dim('  of /healthcheck');
  const rows = phases.map((phase) => {
    const p50 = quantile(phase.health, 0.5);
    const max = Math.max(...phase.health);
    const block = longestBlock(phase.trace);
    return (
      padEnd(` ${phase.endpoint.path}`, 1 + COLUMNS.endpoint) +
      padStart(
        block ? paint.block(millis(block.end - block.start)) : paint.good('no block'),
        COLUMNS.blocked,
      ) +
      `  ${padEnd(paint.dim(kindOf(block)), COLUMNS.kind - 2)}` +
      padStart(paintForWait(p50)(millis(p50)), COLUMNS.p50) +
      padStart(paintForWait(max)(millis(max)), COLUMNS.max) +
      `  ${paintForWait(max)(solidBar((max / fullScale) * (barCells - 2)))}`
    );
  });
  return [heading, ...rows];
}

const kindOf = (block) =>
  truncate(block?.attributes['event_loop.block.kind'] ?? '', COLUMNS.kind - 2);

function longestBlock(trace) {
  return blocksOf(trace).sort((a, b) => b.end - b.start - (a.end - a.start))[0];
}
