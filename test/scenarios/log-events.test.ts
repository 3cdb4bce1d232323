/** Blocks without a recorded span are log events, under the real SDKs for traces and for logs. */
import { expectBlocks, expectExit, expectQuietExit, truthNamed } from './support/expect-blocks.ts';
import { type EventLine, type Run, runApp, type SpanLine } from './support/run-app.ts';
import { test, VoidMeasurement } from './support/scenario.ts';
import { judgeUnlessDelayed, runDelayOf } from './support/validity.ts';

const SAMPLED_AT_1_PERCENT = {
  OTEL_TRACES_SAMPLER: 'traceidratio',
  OTEL_TRACES_SAMPLER_ARG: '0.01',
};
const UNSAMPLED = { OTEL_TRACES_SAMPLER: 'always_off' };
/** What the machine may take of a run without making blocks of what is none. */
const DELAY_MILLIS = 20;
/** Of a run of some 10 s. */
const SAMPLING_DELAY_MILLIS = 200;

const run = (args: string[], env: Record<string, string> = {}) =>
  runApp('log-events.cjs', { asyncHooks: 'auto', args, env });

/** How often each trace has a block, in spans or in events. */
function timesReported({ blocks, events }: Run): Map<string, number> {
  const times = new Map<string, number>();
  for (const { traceId = '' } of [...blocks, ...events])
    times.set(traceId, (times.get(traceId) ?? 0) + 1);
  return times;
}

test('at 1 % sampling, of 1000 blocks 1000 are in spans or events, once', async () => {
  const sampled = await run(['sampling'], SAMPLED_AT_1_PERCENT);

  expectExit(sampled);
  const traceIds = sampled.notes['trace ids'] as string[];
  const times = timesReported(sampled);
  expect(traceIds).toHaveLength(1000);
  judgeUnlessDelayed(runDelayOf(sampled), SAMPLING_DELAY_MILLIS, () =>
    expect(traceIds.filter((traceId) => times.get(traceId) !== 1)).toEqual([]),
  );
  expect(traceIds.filter((traceId) => Number(times.get(traceId)) > 1)).toEqual([]);
  const eventOf = new Set(sampled.events.map(({ traceId }) => traceId));
  const spanOf = new Set(sampled.blocks.map(({ traceId }) => traceId));
  const isSampled = traceIds.filter((traceId) => spanOf.has(traceId));
  judgeUnlessDelayed(runDelayOf(sampled), SAMPLING_DELAY_MILLIS, () =>
    expect(traceIds.filter((traceId) => eventOf.has(traceId))).toHaveLength(
      1000 - isSampled.length,
    ),
  );
});

test('the event has all that the span would have, in the context of the block', async () => {
  const [unsampled, sampled] = [await run(['one'], UNSAMPLED), await run(['one'])];

  expectQuietExit(unsampled);
  expect(unsampled.spans).toEqual([]);
  const truth = truthNamed(unsampled, 'job');
  const event = unsampled.events.find(({ traceId }) => traceId === truth.traceId) as EventLine;
  expect(event).toMatchObject({
    eventName: 'event_loop.blocked',
    severityText: 'WARN',
    scope: 'opentelemetry-instrumentation-event-loop',
    spanId: truth.spanId,
    body: expect.stringMatching(
      new RegExp(`^event-loop-blocked [\\d.]+ m?s callback: .*, trace ${truth.traceId}$`),
    ),
  });
  const seconds = Number(event.attributes['event_loop.block.duration']);
  expect(seconds * 1000).toBeGreaterThanOrEqual(truth.durationMillis - 1);
  judgeUnlessDelayed(runDelayOf(unsampled), DELAY_MILLIS, () => {
    expect(Math.abs(event.startMillis - truth.startMillis)).toBeLessThan(DELAY_MILLIS);
    expect(seconds * 1000).toBeLessThan(truth.durationMillis + DELAY_MILLIS);
  });

  expectBlocks(sampled, [{ truth: 'job', kind: 'callback' }]);
  judgeUnlessDelayed(runDelayOf(sampled), DELAY_MILLIS, () => expect(sampled.events).toEqual([]));
  const names = Object.keys(sampled.blocks[0]?.attributes ?? {});
  expect(Object.keys(event.attributes)).toEqual(
    expect.arrayContaining([...names, 'event_loop.block.duration']),
  );
});

test('without an SDK for logs nothing happens, and nothing is printed', async () => {
  const silent = await run(['one', 'without logs'], UNSAMPLED);

  expectQuietExit(silent);
  expect([silent.spans, silent.events]).toEqual([[], []]);
});

test('expected and ignored blocks: neither span nor event; metrics and health() count them', async () => {
  const unwanted = await run(['unwanted']);

  expectQuietExit(unwanted);
  expect(unwanted.notes).toMatchObject({ returned: 7, resolved: 'warm', thrown: 'theirs' });
  judgeUnlessDelayed(runDelayOf(unwanted), DELAY_MILLIS, () => {
    expectBlocks(unwanted, [{ truth: 'wanted', kind: 'callback', parent: 'none' }]);
    expect(
      unwanted.events.map(({ attributes }) => attributes['event_loop.block.duration']),
    ).toEqual(
      unwanted.blocks.map(({ durationMillis }) => expect.closeTo(durationMillis / 1000, 3)),
    );
    const counts = unwanted.metrics
      .filter(({ name }) => name === 'event_loop.block.duration')
      .map(({ attributes, value }) => [
        attributes['event_loop.block.expected'],
        (value as { count: number }).count,
      ]);
    const countOf = (expected: unknown) =>
      counts.reduce((sum, [flag, count]) => (flag === expected ? sum + Number(count) : sum), 0);
    expect([countOf(true), countOf(undefined)]).toEqual([3, 2]);
  });
  expect(unwanted.notes['blocked millis']).toBeGreaterThanOrEqual(150 + 4 * 150);
});

test('a noisy function leaves spans to others, and what it does not get is counted by its name', async () => {
  const fair = await run(['fairness']);

  expect({ code: fair.code, stderr: fair.stderr }).toEqual({ code: 0, stderr: '' });
  expect(fair.diags.map(({ message }) => message)).toEqual([
    expect.stringContaining('more blocks than maxSpansPerMinute'),
  ]);
  const named = (name: string) =>
    [...fair.blocks, ...fair.events]
      .filter(({ attributes }) => attributes['code.function.name'] === name)
      .sort((a, b) => a.startMillis - b.startMillis);
  const spans = named('noisy').filter((report) => fair.blocks.includes(report as SpanLine));
  judgeUnlessDelayed(runDelayOf(fair), DELAY_MILLIS, () => expect(spans).toHaveLength(2));
  expect(fair.blocks.length).toBeLessThanOrEqual(20);
  for (const name of ['rare', 'rarer']) {
    const [first, ...others] = named(name);
    judgeUnlessDelayed(runDelayOf(fair), DELAY_MILLIS, () => expect(first).toBeDefined());
    expect(others).toEqual([]);
    judgeUnlessDelayed(runDelayOf(fair), DELAY_MILLIS, () => expect(fair.blocks).toContain(first));
  }
  const suppressed = fair.metrics.find(
    ({ name, attributes }) =>
      name === 'event_loop.block.suppressed' && attributes['code.function.name'] === 'noisy',
  );
  judgeUnlessDelayed(runDelayOf(fair), DELAY_MILLIS, () =>
    expect(suppressed?.value).toBe(named('noisy').length - spans.length),
  );
});

describe('options of the environment, until setConfig', () => {
  const runWith = async (options: Record<string, string>) => {
    const prefixed = Object.entries(options).map(([name, value]) => [
      `OTEL_INSTRUMENTATION_EVENT_LOOP_${name}`,
      value,
    ]);
    const given = await run(['options'], Object.fromEntries(prefixed));
    expectExit(given);
    const { startMillis } = truthNamed(given, 'after setConfig');
    const late = [...given.blocks, ...given.events].filter(
      (each) => each.startMillis > startMillis - 1,
    );
    expect(late).toEqual([]);
    const eventIn = (traceId: unknown) =>
      given.events.find((event) => event.traceId === traceId)?.attributes;
    return { ...given, inTrace: eventIn(given.notes['trace']), inNone: eventIn(undefined) };
  };

  test('REQUIRE_PARENT_SPAN, BLOCK_EVENTS, IN_APP', async () => {
    const { blocks, notes, inTrace, inNone } = await runWith({
      REQUIRE_PARENT_SPAN: 'true',
      BLOCK_EVENTS: 'all',
      IN_APP: 'test/scenarios/apps/log-events.cjs',
    });

    const nativeCall = 'child_process.execFileSync';
    expect(new Set(blocks.map(({ traceId }) => traceId))).toEqual(new Set([notes['trace']]));
    expect(notes['published']).toEqual(expect.arrayContaining([[nativeCall, notes['trace']]]));
    expect(inTrace).toMatchObject({ 'event_loop.block.native_call': nativeCall });
    // Without a CPU the watchdog thread may take none.
    if (inNone?.['event_loop.block.samples'] === undefined)
      throw new VoidMeasurement('it has no stack sample');
    expect(inNone).toMatchObject({
      'code.file.path': expect.stringMatching(/apps\/log-events\.cjs$/),
    });
  });

  test('CAPTURE_STACK, NATIVE_CALLS, MAX_SPANS_PER_MINUTE', async () => {
    const { blocks, inTrace, inNone } = await runWith({
      CAPTURE_STACK: 'false',
      NATIVE_CALLS: 'false',
      MAX_SPANS_PER_MINUTE: '0',
    });

    expect(blocks).toEqual([]);
    for (const attributes of [inTrace, inNone]) {
      expect(attributes).toMatchObject({ 'event_loop.block.kind': 'callback' });
      expect(attributes).not.toHaveProperty(['code.function.name']);
      expect(attributes).not.toHaveProperty(['event_loop.block.native_call']);
    }
  });
});
