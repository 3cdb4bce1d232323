// The service and the real collector, with an OTLP receiver in the place of Tempo and Prometheus:
// what the collector sends to them, and that it loses nothing. The part of the test that needs no
// other server.
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { ENDPOINTS } from '../../tools/demo-service/endpoints.cjs';
import { measureSizes } from '../../tools/demo-service/workload.cjs';
import { eventually, freePorts } from '../../tools/harness.cjs';
import { OtlpReceiver } from '../../tools/otlp-receiver.cjs';
import { isBlocked, isOngoing } from './support/spans.mjs';
import { startStack } from './support/stack.mjs';
import { traced } from './support/traced.mjs';

const ARRIVAL_MILLIS = 30_000;
const REQUESTS = 50;
/** Requests that wait for a block. */
const WAITING = 5;
const CUMULATIVE = 2;
const UNFINISHED_AFTER_MILLIS = '1000';
/** Of a size for 300 ms: three times as long as it takes until it is reported. */
const LONG = 10;

let stack;
let receiver;
afterEach(async () => {
  await stack?.stop();
  receiver?.close();
  stack = undefined;
  receiver = undefined;
});

/** The shipped configuration, but in an encoding that the receiver reads. */
async function startCollector(port) {
  const url = `http://127.0.0.1:${port}`;
  stack = await startStack({
    collectorOnly: true,
    collector: { TEMPO_OTLP_HTTP_ENDPOINT: url, PROMETHEUS_OTLP_ENDPOINT: url },
    collectorArguments: ['otlp_http/tempo', 'otlp_http/prometheus'].flatMap((exporter) => [
      `--set=exporters.${exporter}.encoding=json`,
      `--set=exporters.${exporter}.compression=none`,
    ]),
  });
}

async function startBoth() {
  receiver = await OtlpReceiver.listen();
  await startCollector(receiver.port);
}

/** @returns {Promise<string>} the trace of a request whose block is reported before it has ended */
async function blockForLong({ url }) {
  let { steps } = await measureSizes(url, ENDPOINTS);
  for (;;) {
    steps *= LONG;
    const start = performance.now();
    const { traceId } = await traced(`${url}/compute-sync?steps=${steps}`);
    // The size may have been measured while the machine was busy.
    if (performance.now() - start > 2 * Number(UNFINISHED_AFTER_MILLIS)) return traceId;
  }
}

const metricsNamed = (name) => receiver.metrics.filter((metric) => metric.name === name);
const arrived = (name) =>
  eventually(`${name} comes through`, ARRIVAL_MILLIS, async () => metricsNamed(name)[0]);

const stringOf = (attributes, key) =>
  attributes.find((attribute) => attribute.key === key)?.value.stringValue;

/** The metric that the collector makes of the report of an ongoing block. */
async function countedReport() {
  const metric = await arrived('event_loop.block.unfinished');
  expect(metric.sum).toMatchObject({ aggregationTemporality: CUMULATIVE, isMonotonic: true });
  const [{ attributes }] = metric.sum.dataPoints;
  expect(stringOf(attributes, 'code.function.name')).toBe('hashRandomStrings');
  return metric;
}

test('a block comes through below its request, and the report of an ongoing one is counted', async () => {
  await startBoth();
  const demo = await stack.startDemo({
    OTEL_INSTRUMENTATION_EVENT_LOOP_UNFINISHED_AFTER_MILLIS: UNFINISHED_AFTER_MILLIS,
  });
  const traceId = await blockForLong(demo);

  const spans = await eventually('the trace comes through', ARRIVAL_MILLIS, async () => {
    const found = receiver.spans.filter((span) => span.traceId === traceId);
    return (
      found.some((span) => isBlocked(span) && !isOngoing(span)) && found.some(isOngoing) && found
    );
  });
  const block = spans.find((span) => isBlocked(span) && !isOngoing(span));
  expect(spans.map(({ spanId }) => spanId)).toContain(block.parentSpanId);
  expect(block.attributes).toMatchObject({
    'code.function.name': 'hashRandomStrings',
    'event_loop.block.kind': 'callback',
  });

  const counted = await countedReport();
  const lag = await arrived('event_loop.lag');
  const instance = lag.resource['service.instance.id'];
  expect(instance).toMatch(/./);
  expect(counted.resource['service.instance.id']).toBe(instance);
});

test('each stalled second counts for one function, by the route that waited', async () => {
  await startBoth();
  const demo = await stack.startDemo();
  const { steps } = await measureSizes(demo.url, ENDPOINTS);
  // Their query takes 40 ms: they have begun, and not ended.
  const waiting = Array.from({ length: WAITING }, () => traced(`${demo.url}/orders`));
  await pause(15);
  await traced(`${demo.url}/compute-sync?steps=${steps}`);
  await Promise.all(waiting);
  await demo.stop(); // the last metrics are sent

  await eventually('both metrics come through', ARRIVAL_MILLIS, async () => {
    const stalled = metricsNamed('event_loop.stall.duration').at(-1)?.histogram.dataPoints ?? [];
    const caused = metricsNamed('event_loop.stall.caused').at(-1)?.sum;
    const seconds = stalled.reduce((sum, point) => sum + point.sum, 0);
    if (!(seconds > 0) || caused === undefined) return false;
    expect(caused).toMatchObject({ aggregationTemporality: CUMULATIVE, isMonotonic: true });
    const points = caused.dataPoints;
    // And what requests waited before their spans.
    const sum = points.reduce((total, { asDouble }) => total + asDouble, 0);
    expect(sum).toBeGreaterThan(seconds - 1e-6);
    const pairs = points.map(({ attributes }) => [
      stringOf(attributes, 'code.function.name'),
      stringOf(attributes, 'http.route'),
    ]);
    expect(pairs).toContainEqual(['hashRandomStrings', '/orders']);
    return true;
  });
});

test('a block whose trace is not sampled is a log event, and the report of an ongoing one is counted', async () => {
  await startBoth();
  const demo = await stack.startDemo({
    OTEL_TRACES_SAMPLER: 'always_off',
    OTEL_INSTRUMENTATION_EVENT_LOOP_UNFINISHED_AFTER_MILLIS: UNFINISHED_AFTER_MILLIS,
    OTEL_BLRP_SCHEDULE_DELAY: '200',
  });
  const traceId = await blockForLong(demo);

  const printed = await eventually('the events come through', ARRIVAL_MILLIS, async () => {
    const lines = stack.collector
      .output()
      .split('\n')
      .filter((line) => line.includes('event-loop-blocked') && line.includes(traceId));
    return lines.length > 1 && lines;
  });
  const [ongoing, ended] = printed;
  expect(ongoing).toMatch(/not ended: hashRandomStrings .*event_loop\.block\.unfinished=true/);
  expect(ended).toMatch(
    /^event-loop-blocked \S+ m?s callback: hashRandomStrings .*, trace \w{32} event_loop\.block\.kind=callback /,
  );
  expect(ended).not.toMatch(/unfinished/);
  expect(stack.collector.output()).toMatch(/event_loop\.block\.duration=\d/);
  expect(receiver.spans).toEqual([]);
  await countedReport();
});

test('the backends are away, and the collector is killed: no span is lost, and no metric', async () => {
  const [port] = await freePorts(1);
  await startCollector(port);
  const demo = await stack.startDemo();
  const traceIds = [];
  for (let i = 0; i < REQUESTS; i++) traceIds.push((await traced(`${demo.url}/orders`)).traceId);
  await demo.stop(); // not before the collector has taken everything

  await stack.collector.kill();
  receiver = await OtlpReceiver.listen({ port });
  await stack.startCollector();

  await eventually('every trace is there, whole', ARRIVAL_MILLIS, async () => {
    const spans = receiver.spans;
    const missing = traceIds.filter(
      (id) => spans.filter(({ traceId }) => traceId === id).length < 3,
    ).length;
    if (missing > 0) throw new Error(`${missing} of ${REQUESTS} are missing`);
    return metricsNamed('event_loop.lag').length > 0;
  });
  const ids = receiver.spans.map(({ spanId }) => spanId);
  expect(new Set(ids).size).toBe(ids.length);
});
