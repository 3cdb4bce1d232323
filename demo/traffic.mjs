// Endless load for a service that runs somewhere else: requests that wait for a database and health
// checks all the time, and one endpoint after the other that blocks the event loop beside them.
// Ends by itself only at SIGTERM or SIGINT. `node demo/traffic.mjs http://127.0.0.1:8080`; with
// `--require ./demo/telemetry.cjs` before the file, each visit is a trace.
import { setTimeout as pause } from 'node:timers/promises';
import { trace } from '@opentelemetry/api';
import { ENDPOINTS } from '../tools/demo-service/endpoints.cjs';
import { measureSizes, requestFor } from '../tools/demo-service/workload.cjs';
import { sendOk } from '../tools/http-client.cjs';

const OTHER_PATHS = ['/orders', '/healthcheck'];
const OTHER_REQUESTS_INTERVAL_MILLIS = 100;
const THINK_MILLIS = 2000;
/** From the request for the orders to the one that blocks: it has begun with the first by then. */
const BETWEEN_MILLIS = 10;
const AWAY_MILLIS = 1000;

const tracer = trace.getTracer('demo-traffic');
const origin = process.argv[2];
if (!origin) {
  process.stderr.write('usage: node demo/traffic.mjs <http://host:port of the demo service>\n');
  process.exit(2);
}
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(0));

/** The service may be restarted at any time: a failed request is printed, and the load goes on. */
async function tryRequest({ url, ...options }) {
  try {
    await sendOk(url, options);
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    await pause(AWAY_MILLIS);
  }
}

/** A page that asks for the orders and, while it waits for them, for what makes them wait. */
function visit(request) {
  return tracer.startActiveSpan('visit', async (span) => {
    const orders = tryRequest({ url: `${origin}/orders`, method: 'GET' });
    await pause(BETWEEN_MILLIS);
    await Promise.all([orders, tryRequest(request)]);
    span.end();
  });
}

/** Asks again and again until the service is there. */
async function sizesOfRequests() {
  for (;;) {
    try {
      return await measureSizes(origin, ENDPOINTS);
    } catch (error) {
      process.stderr.write(`${error.message}\n`);
      await pause(AWAY_MILLIS);
    }
  }
}

const sizes = await sizesOfRequests();
for (const path of OTHER_PATHS) {
  setInterval(
    () => tryRequest({ url: `${origin}${path}`, method: 'GET' }),
    OTHER_REQUESTS_INTERVAL_MILLIS,
  );
}
for (;;) {
  for (const endpoint of ENDPOINTS) {
    await visit(requestFor(origin, endpoint, sizes[endpoint.work]));
    await pause(THINK_MILLIS);
  }
}
