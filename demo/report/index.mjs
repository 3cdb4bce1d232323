// The report as a whole: a waterfall for every endpoint with the health checks beside it, the
// endpoints side by side, the lag histogram, and what to read first. Sections are parted by an
// empty line, and only by that.
import { blocksOf } from '../telemetry-reader.mjs';
import { healthLines } from './health-lines.mjs';
import { lagChart } from './lag-chart.mjs';
import { latencyTable } from './latency-table.mjs';
import { millis, paint, plural, spread } from './style.mjs';
import { unsampledLines } from './unsampled.mjs';
import { waterfall, waterfallColumns } from './waterfall.mjs';

/**
 * @typedef {object} Phase what was measured while one endpoint was under load
 * @property {import('../../tools/demo-service/endpoints.cjs').Endpoint} endpoint
 * @property {import('../../tools/otlp.cjs').Trace[]} traces of its requests
 * @property {import('../../tools/otlp.cjs').Trace} trace the one of median length
 * @property {import('../../tools/otlp.cjs').Trace[]} stalled of requests that had to
 *   wait for one of its blocks
 * @property {import('../../tools/otlp.cjs').Trace | undefined} longestStalled the one that
 *   waited longest for `trace`
 * @property {number[]} health latencies of the health checks meanwhile, in milliseconds
 */

/**
 * @typedef {object} Result
 * @property {Phase[]} phases
 * @property {{ endpoint: Phase['endpoint'], spans: number,
 *   events: import('../../tools/otlp.cjs').LogRecord[] }} unsampled
 *   what was exported of a request that was not sampled
 * @property {import('../telemetry-reader.mjs').Histogram} lag
 *
 * @param {Result} result
 * @param {number} width
 */
export function renderReport({ phases, unsampled, lag }, width) {
  const columns = waterfallColumns(
    phases.flatMap(({ trace, longestStalled }) =>
      longestStalled === undefined ? [trace] : [trace, longestStalled],
    ),
    width,
  );
  const fullScale = Math.max(...phases.flatMap(({ health }) => health));
  const sections = [
    ...phases.map((phase) => [
      endpointTitle(phase, width),
      ...waterfall(phase.trace, phase.longestStalled, columns),
      ...(blocksOf(phase.trace).length === 0 ? [noBlock(phase)] : []),
      ...healthLines(phase.health, fullScale, columns),
    ]),
    unsampledLines(unsampled, width),
    latencyTable(phases, width),
    lagChart(lag, width),
    whatToRead(phases),
  ];
  return sections.map((lines) => lines.join('\n')).join('\n\n');
}

function endpointTitle({ endpoint, traces, trace }, width) {
  const mark = blocksOf(trace).length > 0 ? paint.block('●') : paint.good('●');
  return spread(
    ` ${mark} ${paint.title(endpoint.path)}${paint.dim(`  ${endpoint.does}`)}`,
    paint.dim(
      traces.length === 1 ? 'the only trace' : `median of ${plural(traces.length, 'trace')}`,
    ),
    width,
  );
}

function noBlock({ traces }) {
  const blocked = traces.filter((trace) => blocksOf(trace).length > 0).length;
  return blocked > 0
    ? ` ${paint.fair(`no block in this trace; ${blocked} of the ${traces.length} have one`)}`
    : ` ${paint.good('no block')}${paint.dim(` in any of its ${plural(traces.length, 'trace')}`)}`;
}

/** Says only what this run has shown. */
function whatToRead(phases) {
  const onMainThread = phases.filter(({ endpoint }) => !endpoint.inWorkerThread);
  const blocked = onMainThread.filter(({ trace }) => blocksOf(trace).length > 0);
  const free = phases.filter(({ traces }) => traces.every((trace) => blocksOf(trace).length === 0));
  const worst = (some) => paint.title(millis(Math.max(...some.flatMap(({ health }) => health))));
  const lines = [];
  if (blocked.length > 0) {
    lines.push(
      ` ${paint.title('See')} the ${paint.block('█ red bars')}: what blocked the event loop, on the request that did it,`,
      ` and the function, file and line below them: the blocking function.`,
      ` ${paint.stalled('Stalled')} is what another request says that had to wait for it: its span links to the block.`,
      ` While those ${plural(blocked.length, 'endpoint')} ran, a health check took up to ${worst(blocked)}.`,
    );
  }
  if (free.length > 0) {
    lines.push(
      ` While ${free.map(({ endpoint }) => endpoint.path).join(' and ')} ran, ${worst(free)} at most.`,
    );
  }
  return lines;
}
