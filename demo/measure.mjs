// The measurement: one phase of load for each endpoint with health checks beside it, then everything that the service
// exported meanwhile.
import { ENDPOINTS } from '../tools/demo-service/endpoints.cjs';
import { measureSizes, requestFor } from '../tools/demo-service/workload.cjs';
import { quantile } from '../tools/statistics.cjs';
import { keepBusy, startBystanders, startHealthChecks } from './load.mjs';
import { showStep } from './progress.mjs';
import { blocksOf, requestPath, stallsOf } from './telemetry-reader.mjs';

const REQUESTS = 5;
const THINK_MILLIS = 150; // so that blocks can be told apart in the latency of the health checks
const HEALTH_CHECK_INTERVAL_MILLIS = 25;
/** Shorter than such a request takes: at any time one of them is under way. */
const BYSTANDER_INTERVAL_MILLIS = 30;
const BYSTANDER_PATH = '/orders';

/** Puts load on every endpoint, one after the other; tells when that was and how the health checks fared. */
export async function driveAllEndpoints(origin) {
  const sizes = await showStep(
    'Measuring how fast this machine is',
    () => measureSizes(origin, ENDPOINTS),
    ({ steps, rows, orders }) => `${steps} steps, ${rows} rows, ${orders} orders a request`,
  );
  const driven = [];
  for (const endpoint of ENDPOINTS) {
    driven.push(
      await showStep(
        `${endpoint.method} ${endpoint.path}`,
        (update) => driveEndpoint(origin, endpoint, sizes[endpoint.work], update),
        ({ health }) => `${REQUESTS} requests, ${health.length} health checks`,
      ),
    );
  }
  return driven;
}

async function driveEndpoint(origin, endpoint, size, update) {
  const request = requestFor(origin, endpoint, size);
  const start = Date.now();
  const checks = startHealthChecks(`${origin}/healthcheck`, HEALTH_CHECK_INTERVAL_MILLIS);
  const bystanders = startBystanders(`${origin}${BYSTANDER_PATH}`, BYSTANDER_INTERVAL_MILLIS);
  try {
    await keepBusy(request, {
      requests: REQUESTS,
      thinkMillis: THINK_MILLIS,
      onAnswer: (answered) =>
        update(`${answered} of ${REQUESTS} requests, ${checks.sent()} health checks`),
    });
  } finally {
    checks.end();
    await bystanders.end();
  }
  return { endpoint, start, end: Date.now(), health: await checks.latencies() };
}

/**
 * Adds to each phase the traces of its own requests, and picks the one of median length; and those of other requests that had to wait
 * for one of its blocks, and picks the one that waited longest for the trace that was picked.
 */
export function matchTraces(driven, traces) {
  const bystanders = traces.filter((trace) => requestPath(trace) === BYSTANDER_PATH);
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
      victims: victimsOf(own, bystanders),
      victim: trace && victimsOf([trace], bystanders)[0],
    };
  });
}

/** The traces with a link to one of these traces' blocks, the one that waited longest first. */
function victimsOf(culprits, bystanders) {
  const blocks = new Set(culprits.flatMap(blocksOf).map(({ spanId }) => spanId));
  return bystanders
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
