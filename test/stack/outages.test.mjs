// What collector-config.yaml promises: what the collector has taken reaches the backends, though
// these are away, and though the collector is killed meanwhile; and what the SDK promises on top:
// it tries again while the collector is away.
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { eventually } from '../../tools/harness.cjs';
import * as jaeger from './support/jaeger.mjs';
import * as prometheus from './support/prometheus.mjs';
import { startStack } from './support/stack.mjs';
import { traced } from './support/traced.mjs';

const REQUESTS = 50;
/** Exporters try again after ten seconds at most. */
const ARRIVAL_MILLIS = 30_000;
const EXPORT_INTERVAL_MILLIS = 1000;
const EXPORTS = 5;

/** @type {import('./support/stack.mjs').Stack | undefined} */
let stack;
afterEach(async () => {
  await stack?.stop();
  stack = undefined;
});

/** Requests that wait for a database, which have three spans, and in the end one that blocks. */
async function makeRequests(url) {
  const traceIds = [];
  for (let i = 0; i < REQUESTS; i++) traceIds.push((await traced(`${url}/orders`)).traceId);
  traceIds.push((await traced(`${url}/compute-sync?steps=200`)).traceId);
  return traceIds;
}

/** A request's spans are its server span, Express' handler, and the query or the block in it. */
const isWhole = (spans) =>
  spans.length >= 3 && spans.some(({ attributes }) => attributes['span.kind'] === 'server');

async function expectAllInJaeger(traceIds) {
  await eventually('every trace is in Jaeger, whole', ARRIVAL_MILLIS, async () => {
    const traces = await Promise.all(
      traceIds.map((traceId) => jaeger.readTrace(stack.urls.jaeger, traceId)),
    );
    const missing = traces.filter((spans) => !isWhole(spans)).length;
    if (missing > 0) throw new Error(`${missing} of ${traceIds.length} are missing`);
    return true;
  });
}

test('Jaeger is away, and the collector is killed: no span is lost, and none is there twice', async () => {
  stack = await startStack({ later: ['jaeger'] });
  const demo = await stack.startDemo();
  const traceIds = await makeRequests(demo.url);
  await demo.stop(); // not before the collector has taken everything

  await stack.collector.kill();
  await stack.startCollector();
  await stack.startJaeger();

  await expectAllInJaeger(traceIds);
  const traces = await Promise.all(
    traceIds.map((traceId) => jaeger.readTrace(stack.urls.jaeger, traceId)),
  );
  for (const spans of traces)
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
});

test('Prometheus is away, and the collector is killed: metrics of that time are there afterwards', async () => {
  stack = await startStack({ later: ['prometheus'] });
  const demo = await stack.startDemo();
  // only Prometheus could show that they were made
  await pause((EXPORTS + 1) * EXPORT_INTERVAL_MILLIS);
  await demo.stop();

  await stack.collector.kill();
  await stack.startCollector();
  await stack.startPrometheus();

  await eventually('each export is in Prometheus', ARRIVAL_MILLIS, async () => {
    const [series] = await prometheus.query(
      stack.urls.prometheus,
      'count_over_time(event_loop_lag_seconds_count[5m])',
    );
    return series?.value >= EXPORTS;
  });
});

test('the collector is away for a moment: the SDK tries again, and no trace is lost', async () => {
  stack = await startStack();
  const demo = await stack.startDemo();
  const before = await makeRequests(demo.url);
  await stack.collector.stop();
  const meanwhile = await makeRequests(demo.url);
  await stack.startCollector();

  await expectAllInJaeger([...before, ...meanwhile]);
});
