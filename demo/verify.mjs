// Whether the telemetry that the demo promises to show has come. Each problem is a sentence for the
// person who ran it.
import { BLOCK_SPAN } from '../tools/otlp.cjs';
import { BLOCK_EVENT, blocksOf, LAG_METRIC } from './telemetry-reader.mjs';

/**
 * @param {import('./report/index.mjs').Result} result
 * @returns {string[]} empty when all is there
 */
export function missingTelemetry({ phases, unsampled, lag }) {
  const problems = phases.flatMap(({ endpoint, traces, stalled }) => {
    const problem = problemOf(endpoint, traces, stalled);
    return problem === undefined ? [] : [`${endpoint.method} ${endpoint.path}: ${problem}`];
  });
  if (unsampled.spans > 0) problems.push('a request that was not sampled has spans');
  if (unsampled.events.length === 0)
    problems.push(`a request that was not sampled has no log event ${BLOCK_EVENT}`);
  if (!lag) problems.push(`the metric ${LAG_METRIC} was not exported`);
  return problems;
}

/**
 * @param {import('../tools/demo-service/endpoints.cjs').Endpoint} endpoint
 * @param {import('../tools/otlp.cjs').Trace[]} traces
 * @param {import('../tools/otlp.cjs').Trace[]} stalled
 */
function problemOf({ blocking, inWorkerThread }, traces, stalled) {
  if (traces.length === 0) return 'no trace of its requests was exported';
  if (blocking === undefined) return undefined;
  const blocks = traces.flatMap(blocksOf);
  if (blocks.length === 0) {
    return `it blocks the event loop, but none of its ${traces.length} traces has an ${BLOCK_SPAN} span`;
  }
  const onMainThread = blocks.filter(({ attributes }) => attributes['thread.name'] === 'main');
  if (inWorkerThread && onMainThread.length > 0)
    return 'it blocks a worker thread, but a block of the main thread is reported';
  if (!inWorkerThread && stalled.length === 0)
    return 'it blocks the event loop, but no other request is linked to one of its blocks';
  const named = blocks.filter((block) => names(block, blocking));
  // Not all: on a busy machine a block may begin or end with something else that takes as long as
  // the threshold.
  if (named.length > blocks.length / 2) return undefined;
  const reported = blocks.map(({ attributes }) => attributes['code.function.name'] ?? 'nothing');
  return (
    `${blocking.functionName ?? 'a function'} in ${blocking.file} blocks the event loop, but only ${named.length} of ${blocks.length} ` +
    `${BLOCK_SPAN} spans say so; reported are ${[...new Set(reported)].join(', ')}`
  );
}

/** Function, file and line. */
function names({ attributes }, { functionName, file }) {
  const path = String(attributes['code.file.path'] ?? '').replaceAll('\\', '/');
  return (
    (functionName === undefined || attributes['code.function.name'] === functionName) &&
    path.includes(`/${file}`) &&
    attributes['code.line.number'] > 0
  );
}
