// The measurement: one phase of load for each endpoint with health checks beside it, then everything that the service
// exported meanwhile.
import { ENDPOINTS } from './endpoints.mjs';
import { keepBusy, startHealthChecks } from './load.mjs';
import { showStep } from './progress.mjs';
import { quantile, requestPath } from './telemetry-reader.mjs';
import { measureSizes, requestFor } from './workload.mjs';

const REQUESTS = 5;
const THINK_MILLIS = 150; // so that blocks can be told apart in the latency of the health checks
const HEALTH_CHECK_INTERVAL_MILLIS = 25;

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
  try {
    await keepBusy(request, {
      requests: REQUESTS,
      thinkMillis: THINK_MILLIS,
      onAnswer: (answered) => update(`${answered} of ${REQUESTS} requests, ${checks.sent()} health checks`),
    });
  } finally {
    checks.end();
  }
  return { endpoint, start, end: Date.now(), health: await checks.latencies() };
}

/** Adds to each phase the traces of its own requests, and picks the one of median length. */
export function matchTraces(driven, traces) {
  return driven.map((phase) => {
    const own = traces.filter(
      (trace) =>
        requestPath(trace) === phase.endpoint.path &&
        trace.root.start >= phase.start - 1 &&
        trace.root.start <= phase.end,
    );
    const lengths = own.map(({ root }) => root.end - root.start);
    const median = quantile(lengths, 0.5);
    return { ...phase, traces: own, trace: own[lengths.indexOf(median)] };
  });
}
