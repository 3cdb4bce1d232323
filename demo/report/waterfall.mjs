// One trace as a waterfall: a line per span, its bar where it was in the trace; the
// `event-loop-blocked` span stands out, with what the instrumentation says about it on the line
// below.
import { BLOCK_SPAN } from '../../tools/otlp.cjs';
import { STALL_ATTRIBUTE } from '../telemetry-reader.mjs';
import { blockDetails } from './block-details.mjs';
import { millis, padEnd, padStart, paint, plural, solidBar, truncate } from './style.mjs';

const DURATION_WIDTH = 9;
const WIDEST_LABEL = 44;
const MAX_ROWS = 16;

/**
 * @typedef {{ label: number, bar: number, duration: number, total: number }} Columns
 */

/**
 * Where the columns are, the same for all waterfalls of a report.
 * @param {import('../../tools/otlp.cjs').Trace[]} traces
 * @param {number} total
 * @returns {Columns}
 */
export function waterfallColumns(traces, total) {
  const widest = Math.max(
    ...traces.flatMap(({ rows }) => rows).map(labelWidth),
    '/healthcheck meanwhile'.length,
  );
  const label = Math.min(widest, WIDEST_LABEL, Math.floor(total * 0.42));
  return { label, bar: total - 1 - label - 1 - DURATION_WIDTH, duration: DURATION_WIDTH, total };
}

const labelWidth = ({ span, depth }) => 2 * depth + span.name.length;

/**
 * @param {import('../../tools/otlp.cjs').Trace} trace
 * @param {import('../../tools/otlp.cjs').Trace | undefined} stalled one that had to wait for it:
 *   shown below, on the same scale
 * @param {Columns} columns
 * @returns {string[]}
 */
export function waterfall(trace, stalled, columns) {
  const spans = [trace, stalled].flatMap((each) => each?.rows ?? []).map(({ span }) => span);
  const start = Math.min(...spans.map((span) => span.start));
  const end = Math.max(...spans.map((span) => span.end));
  const scale = {
    start,
    cellsPerMilli: columns.bar / Math.max(end - start, Number.EPSILON),
    cells: columns.bar,
  };

  const lines = traceLines(trace, scale, columns);
  return stalled === undefined ? lines : [...lines, ...traceLines(stalled, scale, columns)];
}

function traceLines({ rows }, scale, columns) {
  const lines = rows.slice(0, MAX_ROWS).flatMap((row, i) => {
    const line = spanLine(row, scale, columns);
    const indent = trunks(row.last);
    const isInnermost = !(rows[i + 1]?.depth > row.depth);
    const details = detailsOf(row.span, isInnermost, columns.total - 1 - indent.length);
    return details === undefined ? [line] : [line, ` ${paint.dim(indent)}${details}`];
  });
  const hidden = rows.length - MAX_ROWS;
  return hidden > 0 ? [...lines, paint.dim(` … and ${plural(hidden, 'more span')}`)] : lines;
}

function detailsOf(span, isInnermost, room) {
  if (span.name === BLOCK_SPAN) return blockDetails(span, room);
  const stall = span.attributes[STALL_ATTRIBUTE];
  // Those around it say the same.
  return isInnermost && stall > 0 && span.links.length > 0
    ? paint.stalled(`stalled ${millis(stall * 1000)} by a block`)
    : undefined;
}

function spanLine({ span, depth, last }, scale, columns) {
  const color = spanPaint(span, depth);
  const branch = depth === 0 ? '' : trunks(last.slice(0, -1)) + (last.at(-1) ? '└ ' : '├ ');
  const label = paint.dim(branch) + color(truncate(span.name, columns.label - branch.length));
  const duration = padStart(color(millis(span.end - span.start)), columns.duration);
  return ` ${padEnd(label, columns.label)} ${padEnd(color(bar(span, scale)), columns.bar)}${duration}`;
}

function spanPaint(span, depth) {
  if (span.name === BLOCK_SPAN) return paint.block;
  return depth === 0 ? paint.request : paint.inner;
}

const trunks = (last) => last.map((ended) => (ended ? '  ' : '│ ')).join('');

/** Thin for an ordinary span, solid for a block: distinguishable without colours, too. */
function bar(span, { start, cellsPerMilli, cells }) {
  const from = Math.min(cells - 1, Math.round((span.start - start) * cellsPerMilli));
  const length = Math.min(cells - from, (span.end - span.start) * cellsPerMilli);
  const solid = span.name === BLOCK_SPAN;
  return (
    ' '.repeat(from) + (solid ? solidBar(length) : '━'.repeat(Math.max(1, Math.round(length))))
  );
}
