// The tail-sampling file at 1 %: every trace with a block or a stalled span is kept, and about one
// in a hundred of the others. What there was to keep is known from the metrics, which are not
// sampled.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../tools/harness.cjs';
import * as jaeger from './support/jaeger.mjs';
import * as prometheus from './support/prometheus.mjs';
import { isBlocked, isServer } from './support/spans.mjs';
import { startStack } from './support/stack.mjs';
import { traced } from './support/traced.mjs';

const FUNCTION = 'hashRandomStrings'; // blocks the event loop in /compute-sync
const OTHERS = 4000;
/**
 * The SDK drops spans when 2048 of them wait to be exported: these are sent before the next come.
 */
const WITHOUT_PAUSE = 200;
const EXPORTED_MILLIS = 250;
const AT_ONCE = 8;
const BLOCKED = 20;
const PERCENTAGE = 1;
/** Five standard deviations of a binomial distribution: by chance once in a million runs. */
const DEVIATIONS = 5;
const DECISION_WAIT = '3s';
const ARRIVAL_MILLIS = 30_000;

/** @type {import('./support/stack.mjs').Stack} */
let stack;
let blockedTraces;
let otherTraces;
let requestsMade;

/** @returns {Promise<string[]>} the traces of so many requests, some of them at the same time */
async function many(count, url) {
  const traceIds = [];
  let left = count;
  async function client() {
    while (left-- > 0) traceIds.push((await traced(url)).traceId);
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  return traceIds;
}

/**
 * What an exporter blocks while it sends spans counts, but gets no span: only those of this
 * function are compared.
 */
const isOfFunction = ({ attributes }) => attributes['code.function.name'] === FUNCTION;
const stallOf = ({ attributes }) => attributes['event_loop.stall.duration'] ?? 0;
const wanted = (spans) => spans.some((span) => isBlocked(span) || stallOf(span) > 0);

const kept = async () => {
  const traces = await jaeger.findTraces(stack.urls.jaeger, { service: 'event-loop-demo' });
  return new Map(traces.map((spans) => [spans[0].traceId, spans]));
};

const total = async (expression) => {
  const [answer] = await prometheus.query(stack.urls.prometheus, `sum(${expression})`);
  return answer?.value ?? 0;
};

beforeAll(async () => {
  stack = await startStack({
    tailSampling: true,
    collector: {
      TAIL_SAMPLING_DECISION_WAIT: DECISION_WAIT,
      TAIL_SAMPLING_PERCENTAGE: String(PERCENTAGE),
    },
  });
  const demo = await stack.startDemo();
  otherTraces = [];
  while (otherTraces.length < OTHERS) {
    otherTraces.push(...(await many(WITHOUT_PAUSE, `${demo.url}/healthcheck`)));
    await pause(EXPORTED_MILLIS);
  }
  blockedTraces = [];
  requestsMade = OTHERS;
  while (blockedTraces.length < BLOCKED) {
    const waiting = many(AT_ONCE, `${demo.url}/orders`);
    await pause(15); // their query takes 40 ms: they have begun, and not ended
    blockedTraces.push((await traced(`${demo.url}/compute-sync?steps=200`)).traceId);
    await waiting;
    requestsMade += AT_ONCE + 1;
  }
  await demo.stop();
});
afterAll(() => stack?.stop());

test('every block that was counted is there, and every request that blocked', async () => {
  await eventually('the last metrics have come', ARRIVAL_MILLIS, async () => {
    const requests = await total('event_loop_stall_duration_seconds_count');
    if (requests !== requestsMade)
      throw new Error(`${requests} of ${requestsMade} requests were counted`);
    return true;
  });
  const counted = await total(
    `event_loop_block_duration_seconds_count{code_function_name="${FUNCTION}"}`,
  );
  expect(counted).toBeGreaterThanOrEqual(BLOCKED);
  const traces = await eventually(
    'as many spans of blocks are in Jaeger',
    ARRIVAL_MILLIS,
    async () => {
      const found = await kept();
      const spans = [...found.values()]
        .flat()
        .filter((span) => isBlocked(span) && isOfFunction(span));
      if (spans.length !== counted) throw new Error(`${spans.length} spans, ${counted} blocks`);
      return found;
    },
  );
  for (const traceId of blockedTraces) expect(traces.get(traceId)?.some(isServer)).toBe(true);
});

test('every request that was counted as stalled is there', async () => {
  const counted =
    (await total('event_loop_stall_duration_seconds_count')) -
    (await total('event_loop_stall_duration_seconds_bucket{le=~"0|0[.]0"}'));
  expect(counted).toBeGreaterThan(BLOCKED);
  const stalled = [...(await kept()).values()]
    .flat()
    .filter((span) => isServer(span) && stallOf(span) > 0);
  expect(stalled.length).toBe(counted);
});

test('about one in a hundred of the others is there', async () => {
  const traces = await kept();
  const others = otherTraces.filter(
    (traceId) => !(traces.has(traceId) && wanted(traces.get(traceId))),
  );
  const sampled = others.filter((traceId) => traces.has(traceId)).length;
  const share = PERCENTAGE / 100;
  const tolerance = DEVIATIONS * Math.sqrt(others.length * share * (1 - share));
  expect(others.length).toBeGreaterThan(OTHERS / 2);
  expect(Math.abs(sampled - others.length * share)).toBeLessThan(tolerance);
  expect(sampled).toBeGreaterThan(0);
});
