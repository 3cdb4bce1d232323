/** Blocks that do not end are reported while they last. */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { OtlpReceiver, type ReceivedSpan } from '../../tools/otlp-receiver.cjs';
import { expectBlocks } from './support/expect-blocks.ts';
import { giveSecondChance } from './support/noise.ts';
import { type App, runApp } from './support/run-app.ts';

giveSecondChance();

/** From the report to the kill, as an orchestrator that has lost its patience. */
const GRACE_MILLIS = 2000;
const UNFINISHED_AFTER_SECONDS = 0.5;

let receiver: OtlpReceiver;
let env: Record<string, string>;

beforeEach(async () => {
  receiver = await OtlpReceiver.listen();
  env = receiver.env;
});

afterEach(() => receiver.close());

async function killAfterReport(app: App): Promise<void> {
  await once(app.child.stderr as NodeJS.ReadableStream, 'data');
  await wait(GRACE_MILLIS);
  app.child.kill('SIGKILL');
  await once(app.child, 'exit');
}

/** Drives the app to where it is killed; gives the ids of its span and the line it left behind. */
async function killedRun(scenario: string) {
  let ids: string[] = [];
  let stderr = '';
  await runApp('unfinished.cjs', { asyncHooks: 'auto', args: [scenario], env }, async (app) => {
    ids = (await app.printed('job ')).split(' ');
    (app.child.stderr as NodeJS.ReadableStream).on('data', (text: string) => {
      stderr += text;
    });
    await killAfterReport(app);
  }).catch((error: Error) => {
    // It is meant to die.
    if (!/signal SIGKILL/.test(error.message)) throw error;
  });
  const [traceId, spanId] = ids;
  return { traceId, spanId, stderr };
}

test.each([
  ['spinForEver', 'callback'],
  ['awaitForEver', 'microtasks'],
])('%s, killed: the evidence has left the process', async (scenario, kind) => {
  const { traceId, spanId, stderr } = await killedRun(scenario);

  expect(stderr).toMatch(
    new RegExp(
      `^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z event-loop-blocked for \\d\\.\\d s, not ended: ${scenario} \\(\\S*unfinished\\.cjs:\\d+:\\d+\\), trace ${traceId} span ${spanId}, pid \\d+\\n$`,
    ),
  );
  expect(receiver.spans).toHaveLength(1);
  const span = receiver.spans[0] as ReceivedSpan;
  expect(span.resource['service.name']).toBe('held');
  expect(span.scope).toBe('opentelemetry-instrumentation-event-loop');
  expect(span).toMatchObject({ name: 'event-loop-blocked', traceId, parentSpanId: spanId });
  expect(span.seconds).toBeGreaterThanOrEqual(UNFINISHED_AFTER_SECONDS * 0.95);
  expect(span.attributes).toMatchObject({
    'event_loop.block.unfinished': true,
    'event_loop.block.kind': kind,
    'code.function.name': scenario,
    'code.file.path': expect.stringContaining('unfinished.cjs'),
    'code.line.number': expect.anything(),
    'code.stacktrace': expect.stringContaining(`at ${scenario} (`),
    'thread.name': 'main',
  });
});

test('a block that ends after all: the ordinary span follows, with the same parent', async () => {
  const run = await runApp('unfinished.cjs', { asyncHooks: 'auto', args: ['spinLong'], env });

  expect(run.stderr.split('\n')).toHaveLength(2); // one line
  expectBlocks(run, [{ truth: 'job', kind: 'callback' }]);
  expect(run.blocks[0]?.attributes).toMatchObject({ 'code.function.name': 'spinLong' });
  expect(run.blocks[0]?.attributes).not.toHaveProperty('event_loop.block.unfinished');
  expect(receiver.spans).toHaveLength(1);
  expect(receiver.spans[0]?.parentSpanId).toBe(run.blocks[0]?.parentSpanId);
  expect(run.code).toBe(0);
});

test('native code: nobody can be named, and it is said that it blocks', async () => {
  const run = await runApp('unfinished.cjs', { args: ['standInNativeCode'], env });

  expect(run.stderr).toMatch(
    /^\S+ event-loop-blocked for \d\.\d s, not ended: native code, no trace, pid \d+\n$/,
  );
  expectBlocks(run, [{ truth: 'job', kind: 'callback' }]);
  expect(receiver.spans).toEqual([]);
});

test('turned off, or without OTLP in the environment, nothing is sent', async () => {
  const off = await runApp('unfinished.cjs', {
    args: ['spinLong'],
    env: { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
  });
  expect(off.stderr).toContain('not ended: spinLong');
  expectBlocks(off, [{ truth: 'job', kind: 'callback' }]);
  expect(receiver.spans).toEqual([]);
});
