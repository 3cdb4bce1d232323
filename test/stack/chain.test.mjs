// Service → Collector → Jaeger and Prometheus: what is there is what happened, under the
// names that dashboard and alerts ask for.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ENDPOINTS } from '../../tools/demo-service/endpoints.cjs';
import { measureSizes, requestFor } from '../../tools/demo-service/workload.cjs';
import { eventually } from '../../tools/harness.cjs';
import { promQl, readRules } from './support/expressions.mjs';
import * as jaeger from './support/jaeger.mjs';
import * as prometheus from './support/prometheus.mjs';
import { isBlocked, isOngoing, isServer } from './support/spans.mjs';
import { startStack } from './support/stack.mjs';
import { traced } from './support/traced.mjs';

const SERVICE = 'event-loop-demo';
/** Blocks the event loop in the `/compute-*` endpoints. */
const FUNCTION = 'hashRandomStrings';
/**
 * From the answer to a request to its telemetry at the backend; a shared machine may be suspended
 * meanwhile.
 */
const ARRIVAL_MILLIS = 20_000;
/** Rules are evaluated each 15 s, and a rate needs two values. */
const EVALUATION_MILLIS = 60_000;
/** `thresholdMillis` of the demo. */
const LEAST_BLOCK_MILLIS = 50;
/** A handler may go on after it has ended its request's span. */
const LONGER_THAN_REQUEST_MILLIS = 20;
const LEAST_STALL_SECONDS = 0.05;
const LOAD_INTERVAL_MILLIS = 2000;
const ONE_LONG_IN = 10;

/** @type {import('./support/stack.mjs').Stack} */
let stack;
let demo;
let sizes;

beforeAll(async () => {
  stack = await startStack();
  demo = await stack.startDemo({ OTEL_INSTRUMENTATION_EVENT_LOOP_UNFINISHED_AFTER_MILLIS: '2000' });
  sizes = await measureSizes(demo.url, ENDPOINTS);
});
afterAll(() => stack?.stop());

const spansOf = (traceId, complete) =>
  eventually(`trace ${traceId} is in Jaeger`, ARRIVAL_MILLIS, async () => {
    const spans = await jaeger.readTrace(stack.urls.jaeger, traceId);
    return complete(spans) && spans;
  });

function isBelow(span, ancestor, spans) {
  for (let at = span; at; at = spans.find(({ spanId }) => spanId === at.parentId)) {
    if (at.spanId === ancestor.spanId) return true;
  }
  return false;
}

describe('traces in Jaeger', () => {
  test.each(
    ENDPOINTS.filter(({ blocking }) => blocking).map((endpoint) => [endpoint.path, endpoint]),
  )(
    'the block of %s is under its request, and names the function that blocked the event loop',
    async (path, endpoint) => {
      const request = requestFor(demo.url, endpoint, sizes[endpoint.work]);
      const { traceId } = await traced(request.url, request);

      const spans = await spansOf(
        traceId,
        (found) => found.some(isBlocked) && found.some(isServer),
      );
      const server = spans.find(isServer);
      const blocked = spans.filter((span) => isBlocked(span) && !isOngoing(span));
      const longest = blocked.toSorted((a, b) => b.durationMillis - a.durationMillis)[0];

      expect(server.name).toBe(`${endpoint.method} ${path}`);
      expect(isBelow(longest, server, spans)).toBe(true);
      expect(longest.durationMillis).toBeGreaterThanOrEqual(LEAST_BLOCK_MILLIS);
      expect(longest.durationMillis).toBeLessThan(
        server.durationMillis + LONGER_THAN_REQUEST_MILLIS,
      );
      expect(longest.attributes).toMatchObject({
        'event_loop.block.kind': expect.stringMatching(/^(callback|microtasks)$/),
        'event_loop.block.callbacks': expect.any(Number),
        'event_loop.block.samples': expect.any(Number),
        'code.file.path': expect.stringContaining(endpoint.blocking.file),
        'code.line.number': expect.any(Number),
        'code.stacktrace': expect.stringContaining('at '),
        'thread.id': 0,
        'thread.name': 'main',
      });
      const { functionName } = endpoint.blocking;
      if (functionName) expect(longest.attributes['code.function.name']).toBe(functionName);
    },
  );

  test('a request that had to wait says how long, and leads to the block in another trace', async () => {
    const waiting = traced(`${demo.url}/orders`);
    await pause(15); // its query takes 40 ms: it has begun, and not ended
    const blocking = await traced(`${demo.url}/compute-sync?steps=${sizes.steps}`);
    const stalled = await waiting;

    const blockingSpans = await spansOf(blocking.traceId, (spans) => spans.some(isBlocked));
    const spans = await spansOf(stalled.traceId, (found) => found.some(isServer));
    const { attributes, links } = spans.find(isServer);
    expect(attributes['event_loop.stall.duration']).toBeGreaterThan(LEAST_STALL_SECONDS);
    expect(links).toContainEqual({
      traceId: blocking.traceId,
      spanId: blockingSpans.find(isBlocked).spanId,
    });
  });
});

describe('metrics in Prometheus', () => {
  const ask = (expression) => prometheus.query(stack.urls.prometheus, expression);
  const labelsOf = (series) =>
    [...new Set(series.flatMap(({ metric }) => Object.keys(metric)))].toSorted();

  beforeAll(async () => {
    await traced(`${demo.url}/compute-sync?steps=${sizes.steps}`);
    await eventually('metrics are in Prometheus', ARRIVAL_MILLIS, async () => {
      const series = await ask(
        `event_loop_block_duration_seconds_count{code_function_name="${FUNCTION}"}`,
      );
      return series.length > 0;
    });
  });

  test.each([
    [
      'event_loop_lag_seconds',
      [],
      '0.001 0.0025 0.005 0.01 0.025 0.05 0.1 0.2 0.5 1 2.5 5 10 30 +Inf',
    ],
    [
      'event_loop_block_duration_seconds',
      ['code_function_name', 'event_loop_block_kind'],
      '0.005 0.01 0.025 0.05 0.075 0.1 0.15 0.25 0.5 0.75 1 2.5 5 10 30 60 +Inf',
    ],
    [
      'event_loop_stall_duration_seconds',
      [],
      '0 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 30 +Inf',
    ],
  ])(
    '%s is a histogram with the labels and buckets that rules and dashboard ask for',
    async (name, ownLabels, bounds) => {
      const labels = ['__name__', ...ownLabels, 'instance', 'job'];
      expect(labelsOf(await ask(`${name}_count`))).toEqual(labels);
      expect(labelsOf(await ask(`${name}_sum`))).toEqual(labels);
      const buckets = await ask(`${name}_bucket`);
      expect(labelsOf(buckets)).toEqual([...labels, 'le']);
      expect([...new Set(buckets.map(({ metric }) => metric.le))].toSorted()).toEqual(
        bounds.split(' ').toSorted(),
      );
      expect(buckets.every(({ metric }) => metric.job === SERVICE && metric.instance)).toBe(true);
    },
  );

  test('the collector exports the length of its queues', async () => {
    await eventually('its metrics are in Prometheus', EVALUATION_MILLIS, async () => {
      const series = await ask('otelcol_exporter_queue_size');
      const exporters = series.map(({ metric }) => metric['exporter']).toSorted();
      return exporters.join() === 'otlp_grpc/jaeger,otlp_http/prometheus,otlp_http/tempo';
    });
  });

  describe('every expression of recording rules, dashboard and data sources returns data', () => {
    let load;
    beforeAll(async () => {
      const metricsOnly = await stack.startDemo({
        OTEL_SERVICE_NAME: `${SERVICE}-without-spans`,
        OTEL_INSTRUMENTATION_EVENT_LOOP_MAX_SPANS_PER_MINUTE: '0',
      });
      await traced(`${metricsOnly.url}/compute-sync?steps=${sizes.steps}`);
      // Another function blocks in the second release than in the first.
      const blocking = [`/compute-sync?steps=${sizes.steps}`, `/nested-loop?rows=${sizes.rows}`];
      for (const [version, path] of blocking.entries()) {
        const release = await stack.startDemo({
          OTEL_SERVICE_NAME: `${SERVICE}-releases`,
          OTEL_RESOURCE_ATTRIBUTES: `service.version=${version}`,
        });
        await traced(`${release.url}${path}`);
        if (version === 0) await release.stop();
      }
      // enough to be reported while it lasts
      const long = `/compute-sync?steps=${sizes.steps * 10}`;
      const paths = [
        '/orders',
        `/compute-sync?steps=${sizes.steps}`,
        `/compute-async?steps=${sizes.steps}`,
      ];
      let times = 0;
      load = setInterval(() => {
        const now = times++ % ONE_LONG_IN === 0 ? [...paths, long] : paths;
        // none is left when the service stops
        for (const path of now) traced(`${demo.url}${path}`).catch(() => {});
      }, LOAD_INTERVAL_MILLIS);
    });
    afterAll(() => clearInterval(load));

    test.each(promQl().map(({ where, expression }) => [where, expression]))(
      '%s',
      (_where, expression) =>
        eventually(expression, EVALUATION_MILLIS, async () => {
          const series = await ask(expression);
          return series.some(({ value }) => !Number.isNaN(value));
        }),
    );

    test('no rule fails', async () => {
      const rules = await prometheus.rules(stack.urls.prometheus);
      expect(rules.length).toBe(readRules().length);
      expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
    });
  });
});
