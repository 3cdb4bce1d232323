/** Blocks that do not end are reported while they last. */
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { OtlpReceiver, type ReceivedSpan } from '../../tools/otlp-receiver.cjs';
import { expectBlocks } from './support/expect-blocks.ts';
import {
  type App,
  type AppOptions,
  makeFolder,
  type Run,
  runApp,
  type SpanLine,
} from './support/run-app.ts';
import { afterEachMeasurement, beforeEachMeasurement, test } from './support/scenario.ts';
import { judgeUnlessDelayed, lateOf, runDelayOf } from './support/validity.ts';
import { startWitness } from './support/witness.ts';

const UNFINISHED_AFTER_SECONDS = 0.5;
/** How long something is waited for that must not come. */
const NOTHING_MILLIS = 1000;
/** What the machine may take of a run without keeping the watchdog thread from what blocks. */
const DELAY_MILLIS = 50;

let receiver: OtlpReceiver;
let env: Record<string, string>;
let folder: string;
/** A blocked app cannot be sent a message. It goes on when there is this file. */
let endOfBlock: string;

beforeEachMeasurement(async () => {
  receiver = await OtlpReceiver.listen();
  env = receiver.env;
  folder = makeFolder();
  endOfBlock = path.join(folder, 'end');
});

afterEachMeasurement(() => {
  receiver.close();
  rmSync(folder, { recursive: true });
});

const reported = (app: App) => once(app.child.stderr as NodeJS.ReadableStream, 'data');

async function received(): Promise<void> {
  while (receiver.spans.length === 0) await wait(10);
}

/**
 * Runs the app to where it has been reported, for as long as `until` takes, and then to its end.
 */
function endedRun(scenario: string, options: AppOptions, until: () => Promise<void>): Promise<Run> {
  return runApp('ongoing.cjs', { ...options, args: [scenario, endOfBlock] }, async (app) => {
    await reported(app);
    await until();
    writeFileSync(endOfBlock, '');
  });
}

/** Drives the app to where it is killed; gives the ids of its span and the line it left behind. */
async function killedRun(scenario: string) {
  let ids: string[] = [];
  const witness = await startWitness();
  const options: AppOptions = { asyncHooks: 'auto', args: [scenario], env };
  const { signal, stderr } = await runApp('ongoing.cjs', options, async (app) => {
    witness.watch(Number(app.child.pid));
    ids = (await app.printed('job ')).split(' ');
    await received();
    app.child.kill('SIGKILL');
  });
  expect(signal).toBe('SIGKILL');
  const { stalls } = await witness.stop();
  const [traceId, spanId] = ids;
  const delayMillis = Math.max(lateOf(stalls), witness.delayMillis());
  return { traceId, spanId, stderr, delayMillis };
}

test.each([
  ['spinForEver', 'callback', 'spinForEver'],
  ['awaitForEver', 'microtasks', 'awaitForEver'],
  ['spinAfterAddOn', 'microtasks', 'spinForEver'],
])(
  '%s is killed while it blocks: its report has left the process',
  async (scenario, ...expected) => {
    const [kind, name] = expected;
    const { traceId, spanId, stderr, delayMillis } = await killedRun(scenario);

    judgeUnlessDelayed(delayMillis, DELAY_MILLIS, () =>
      expect(stderr).toMatch(
        new RegExp(
          `^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z event-loop-blocked for [\\d.]+ s, not ended: ${name} \\(\\S*ongoing\\.cjs:\\d+:\\d+\\), trace ${traceId} span ${spanId}, pid \\d+\\n$`,
        ),
      ),
    );
    expect(receiver.spans).toHaveLength(1);
    const span = receiver.spans[0] as ReceivedSpan;
    expect(span.resource['service.name']).toBe('blocked');
    expect(span.scope).toBe('opentelemetry-instrumentation-event-loop');
    expect(span).toMatchObject({ name: 'event-loop-blocked', traceId, parentSpanId: spanId });
    expect(span.seconds).toBeGreaterThanOrEqual(UNFINISHED_AFTER_SECONDS * 0.95);
    expect(span.attributes).toMatchObject({
      'event_loop.block.unfinished': true,
      'event_loop.block.kind': kind,
    });
    judgeUnlessDelayed(delayMillis, DELAY_MILLIS, () =>
      expect(span.attributes).toMatchObject({
        'code.function.name': name,
        'code.file.path': expect.stringContaining('ongoing.cjs'),
        'code.line.number': expect.anything(),
        'code.stacktrace': expect.stringContaining(`at ${name} (`),
        'thread.name': 'main',
      }),
    );
  },
);

test.each([['true'], ['false']])(
  'code that a loader has compiled: the line of the source, or none; sourceMaps: %s',
  async (sourceMaps) => {
    const options = { args: [endOfBlock, sourceMaps] };
    const run = await runApp('loader.cjs', options, async (app) => {
      await reported(app);
      writeFileSync(endOfBlock, '');
    });

    const file = path.join(__dirname, 'apps/loaded/orders.ts');
    judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
      expect(run.blocks).toHaveLength(1);
      expect(run.stderr).toContain(` not ended: hashOrders (${file}:`);
      const { attributes } = run.blocks[0] as SpanLine;
      expect(attributes).toMatchObject({
        'code.function.name': 'hashOrders',
        'code.file.path': file,
      });
      const line = attributes['code.line.number'];
      const place =
        line === undefined ? file : `${file}:${line}:${attributes['code.column.number']}`;
      expect(attributes['code.stacktrace']).toContain(`at hashOrders (${place})`);
      const source = readFileSync(file, 'utf8').split('\n');
      if (sourceMaps === 'true') expect(source[Number(line) - 1]).toContain('// BLOCKS');
      else expect(line).toBeUndefined();
    });
  },
);

test('a native call that is wrapped: the report names the function that made it, and its trace', async () => {
  const run = await endedRun('waitInShell', { env }, received);

  const [block] = run.blocks;
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
    expect(run.stderr).toMatch(
      new RegExp(
        `^\\S+ event-loop-blocked for [\\d.]+ s, not ended: child_process\\.execFileSync in waitInShell \\(\\S*ongoing\\.cjs:\\d+:\\d+\\), trace ${block?.traceId} span ${block?.parentSpanId}, pid \\d+\\n$`,
      ),
    ),
  );
  expectBlocks(run, [{ truth: 'job', kind: 'callback' }]);
  expect(receiver.spans[0]).toMatchObject({
    parentSpanId: block?.parentSpanId,
    attributes: {
      'code.function.name': 'waitInShell',
      'event_loop.block.native_call': 'child_process.execFileSync',
      'event_loop.block.unfinished': true,
    },
  });
});

test('after code that V8 has ended inside a native call, a block is not taken for that call', async () => {
  const run = await endedRun('spinAfterEnded', { env }, received);

  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
    expect(run.stderr).toMatch(/^\S+ event-loop-blocked for [\d.]+ s, not ended: spinLong \(.*\n$/),
  );
  expect(receiver.spans[0]?.parentSpanId).toBe(run.truths[0]?.spanId);
  expect(receiver.spans[0]?.attributes).not.toHaveProperty('event_loop.block.native_call');
});

test('a native call whose reference was taken before: the report names no function', async () => {
  const run = await endedRun('standInNativeCode', { env }, () => wait(NOTHING_MILLIS));

  expect(run.stderr).toMatch(
    /^\S+ event-loop-blocked for [\d.]+ s, not ended: native code, pid \d+\n$/,
  );
  expectBlocks(run, [{ truth: 'job', kind: 'callback' }]);
  expect(receiver.spans).toEqual([]);
});

test('a trace that is not sampled: the report is a log event, and so is the block once it has ended', async () => {
  const unsampled = { ...env, OTEL_TRACES_SAMPLER: 'always_off', OTEL_LOGS_EXPORTER: 'otlp' };
  const run = await endedRun('spinLong', { env: unsampled }, async () => {
    while (receiver.logs.length === 0) await wait(10);
  });

  expect([run.blocks, receiver.spans]).toEqual([[], []]);
  const [truth] = run.truths;
  const [ongoing, ended] = receiver.logs.filter(({ traceId }) => traceId === truth?.traceId);
  expect(ongoing).toMatchObject({
    eventName: 'event_loop.blocked',
    severityText: 'WARN',
    body: run.stderr.trim(),
    spanId: truth?.spanId,
    scope: 'opentelemetry-instrumentation-event-loop',
    resource: { 'service.name': 'blocked' },
    attributes: {
      'event_loop.block.unfinished': true,
      'event_loop.block.duration': expect.any(Number),
    },
  });
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
    expect(ongoing?.attributes['code.function.name']).toBe('spinLong'),
  );
  expect(Number(ongoing?.attributes['event_loop.block.duration'])).toBeGreaterThanOrEqual(
    UNFINISHED_AFTER_SECONDS * 0.95,
  );
  expect(ended).toMatchObject({ eventName: 'event_loop.blocked', spanId: truth?.spanId });
  expect(ended?.attributes).not.toHaveProperty(['event_loop.block.unfinished']);
});

test('without OTLP in the environment there is a line, and nothing is sent', async () => {
  const off = await endedRun(
    'spinLong',
    { env: { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' } },
    () => wait(NOTHING_MILLIS),
  );
  judgeUnlessDelayed(runDelayOf(off), DELAY_MILLIS, () =>
    expect(off.stderr).toContain('not ended: spinLong'),
  );
  expectBlocks(off, [{ truth: 'job', kind: 'callback' }]);
  expect(receiver.spans).toEqual([]);
});
