// The measurement: one phase of load for each endpoint with health checks beside it, then
// everything that the service exported meanwhile.
import { ENDPOINTS, WORKER_ENDPOINT } from '../tools/demo-service/endpoints.cjs';
import { measureSizes, requestFor } from '../tools/demo-service/workload.cjs';
import { quantile } from '../tools/statistics.cjs';
import { keepBusy, sendUnsampled, startHealthChecks, startOtherRequests } from './load.mjs';
import { showStep } from './progress.mjs';
import { BLOCK_EVENT, blocksOf, requestPath, stallsOf } from './telemetry-reader.mjs';

const REQUESTS = 5;
const THINK_MILLIS = 150; // so that blocks can be distinguished in the latency of the health checks
const HEALTH_CHECK_INTERVAL_MILLIS = 25;
/** Shorter than such a request takes: at any time one of them is under way. */
const OTHER_REQUESTS_INTERVAL_MILLIS = 30;
const OTHER_REQUESTS_PATH = '/orders';

const UNSAMPLED = /** @type {import('../tools/demo-service/endpoints.cjs').Endpoint} */ (
  ENDPOINTS.find(({ path }) => path === '/nested-loop')
);

/**
 * Puts load on every endpoint, one after the other, then sends a request that is not sampled;
 * returns when that was, the latency of the health checks, and the trace id that was not sampled.
 */
export async function driveAllEndpoints(origin) {
  const sizes = await showStep(
    'Measuring how fast this machine is',
    () => measureSizes(origin, ENDPOINTS),
    ({ steps, rows, orders }) => `${steps} steps, ${rows} rows, ${orders} orders a request`,
  );
  const driven = [];
  for (const endpoint of [WORKER_ENDPOINT, ...ENDPOINTS]) {
    driven.push(
      await showStep(
        `${endpoint.method} ${endpoint.path}`,
        (update) => driveEndpoint(origin, endpoint, sizes[endpoint.work], update),
        ({ health }) => `${REQUESTS} requests, ${health.length} health checks`,
      ),
    );
  }
  const unsampled = await showStep(
    `GET ${UNSAMPLED.path}, not sampled`,
    () => sendUnsampled(requestFor(origin, UNSAMPLED, sizes[UNSAMPLED.work])),
    () => '1 request',
  );
  return { driven, unsampled: { endpoint: UNSAMPLED, ...unsampled } };
}

async function driveEndpoint(origin, endpoint, size, update) {
  const request = requestFor(origin, endpoint, size);
  const start = Date.now();
  const checks = startHealthChecks(`${origin}/healthcheck`, HEALTH_CHECK_INTERVAL_MILLIS);
  const otherRequests = startOtherRequests(
    `${origin}${OTHER_REQUESTS_PATH}`,
    OTHER_REQUESTS_INTERVAL_MILLIS,
  );
  try {
    await keepBusy(request, {
      requests: REQUESTS,
      thinkMillis: THINK_MILLIS,
      onAnswer: (answered) =>
        update(`${answered} of ${REQUESTS} requests, ${checks.sent()} health checks`),
    });
  } finally {
    checks.end();
    await otherRequests.end();
  }
  return { endpoint, start, end: Date.now(), health: await checks.latencies() };
}

/**
 * Adds to each phase the traces of its own requests, and picks the one of median length; and those
 * of other requests that had to wait for one of its blocks, and picks the one that waited longest
 * for the trace that was picked.
 */
export function matchTraces(driven, traces) {
  const otherRequests = traces.filter((trace) => requestPath(trace) === OTHER_REQUESTS_PATH);
  return driven.map((phase) => {
    const own = traces.filter(
      (trace) =>
        requestPath(trace) === phase.endpoint.path &&
        trace.root.start >= phase.start - 1 &&
        trace.root.start <= phase.end,
    );
    const lengths = own.map(({ root }) => root.end - root.start);
    const median = quantile(lengths, 0.5);
    const trace = own[lengths.indexOf(median)];
    return {
      ...phase,
      traces: own,
      trace,
      stalled: stalledBy(own, otherRequests),
      longestStalled: trace && stalledBy([trace], otherRequests)[0],
    };
  });
}

/** Adds what was exported of the request that was not sampled: log events, and no span. */
export function matchUnsampled({ endpoint, traceId }, traces, logs) {
  return {
    endpoint,
    spans: traces.flatMap(({ rows }) => rows).filter(({ span }) => span.traceId === traceId).length,
    events: logs.filter((log) => log.traceId === traceId && log.eventName === BLOCK_EVENT),
  };
}

/** The traces with a link to one of these traces' blocks, the one that waited longest first. */
function stalledBy(blocking, otherRequests) {
  const blocks = new Set(blocking.flatMap(blocksOf).map(({ spanId }) => spanId));
  return otherRequests
    .map((trace) => {
      const stalls = stallsOf(trace).filter(({ links }) =>
        links.some(({ spanId }) => blocks.has(spanId)),
      );
      return { trace, stall: Math.max(0, ...stalls.map(({ seconds }) => seconds)) };
    })
    .filter(({ stall }) => stall > 0)
    .sort((a, b) => b.stall - a.stall)
    .map(({ trace }) => trace);
}
