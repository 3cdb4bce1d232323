/**
 * One scenario of each kind, for `npm test`. All of them, each in every mode, are in the file that
 * is named like the kind: `npm run test:scenarios`.
 */
import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { OtlpReceiver } from '../../tools/otlp-receiver.cjs';
import { BACKGROUND } from './support/background.ts';
import {
  expectBlock,
  expectBlockMetric,
  expectBlocks,
  expectExit,
  expectNamed,
  expectNothingReported,
  expectQuietExit,
  lagOf,
  truthNamed,
} from './support/expect-blocks.ts';
import { appFile, makeFolder, runApp, warmClientOf } from './support/run-app.ts';
import { afterEachMeasurement, beforeEachMeasurement, test } from './support/scenario.ts';
import { judgeUnlessDelayed, lateOf, runDelayOf } from './support/validity.ts';
import { startWitness } from './support/witness.ts';

const REGISTER = 'opentelemetry-instrumentation-event-loop/register';
const CONSOLE = { OTEL_INSTRUMENTATION_EVENT_LOOP_CONSOLE: 'true' };
/** What the machine may take of a run without making blocks of what is none. */
const DELAY_MILLIS = 20;

let receiver: OtlpReceiver;
beforeEachMeasurement(async () => {
  receiver = await OtlpReceiver.listen();
});
afterEachMeasurement(() => receiver.close());

test('incidents: a handler that computes is one block, a child of its span', async () => {
  const run = await runApp('hashing-service.cjs', { asyncHooks: 'auto' }, async (app) => {
    const get = await warmClientOf(app, '/compute-sync?millis=5', 3);
    await get('/compute-sync?millis=400');
  });

  expectQuietExit(run);
  expectBlocks(run, [{ truth: 'compute-sync 400', kind: 'callback' }]);
  expectBlockMetric(run);
  const handler = run.spans.find((span) => span.spanId === run.blocks[0]?.parentSpanId);
  expect(handler?.name).toMatch(/^request handler/);
});

test('blockers: a worker thread reports its own block', async () => {
  const run = await runApp('worker-thread.cjs');

  expectQuietExit(run);
  expectBlocks(run, [{ truth: 'job', kind: 'callback' }]);
  expectBlockMetric(run);
  expect(run.blocks[0]?.attributes['thread.id']).toBe(run.notes['worker thread']);
});

test('waiting is no block', async () => {
  // Windows has no `mkfifo`.
  const waiting = process.platform === 'win32' ? 'another thread waiting' : 'waiting for a file';
  const run = await runApp('no-blocks.cjs', { asyncHooks: 'auto', args: [waiting] });

  expectQuietExit(run);
  expectNothingReported(run);
});

test('survival: a process that ends right after a block ends at once, and the block is reported', async () => {
  const run = await runApp('exits.cjs', { args: ['natural exit right after a block'] });

  expectQuietExit(run);
  expectBlocks(run, [{ truth: 'block', kind: 'callback', parent: 'none' }]);
});

test('survival: two copies of the package report a block once', async () => {
  const run = await runApp('two-copies.mjs');

  expectExit(run);
  expect(run.notes).toMatchObject({
    'import and require give one copy': true,
    'are two copies': true,
  });
  expectBlocks(
    run,
    ['both', 'one disabled'].map((truth) => ({ truth, kind: 'callback', parent: 'none' })),
  );
  expect(run.notes['reports']).toEqual(['import', 'copy']);
  expect(run.diags.map(({ level }) => level)).toEqual(['warn']);
});

test('capture: the function that blocked is named, on the span and on the metric', async () => {
  // So long that the watchdog thread gets a CPU in it, on a busy machine as well.
  const options = { args: ['loop,dependency'], env: { BLOCK_MILLIS: '500' } };
  const run = await runApp('blocking-functions.cjs', options);

  expectQuietExit(run);
  expectNamed(run, { loop: 'hashMillions', dependency: 'padRows' });
  const metrics = run.metrics.filter(({ name }) => name === 'event_loop.block.duration');
  const names = metrics.map(({ attributes }) => attributes['code.function.name']);
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
    expect(names.sort()).toEqual(['hashMillions', 'padRows']),
  );
});

test('console: a block is a line on stderr', async () => {
  const run = await runApp('hashing-service.cjs', { env: CONSOLE }, async (app) => {
    const get = await warmClientOf(app, '/readiness');
    await get('/compute-sync?millis=250');
  });

  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
    expect(run.stderr).toMatch(
      /^event-loop-blocked [\d.]+ m?s callback: \w+ \(.*truth\.cjs:\d+:\d+\)(, waiting)?, GET \/compute-sync, trace \w{32}$/m,
    ),
  );
});

test('lag: one second of work is in the lag and in health(), and lost in a mean', async () => {
  const run = await runApp('one-second-in-three.cjs', { asyncHooks: 'auto' });

  expectQuietExit(run);
  const { durationMillis } = truthNamed(run, 'one second');
  const { maxLagMillis, blockedMillis, meanDelayMillis } = run.notes['health'] as Record<
    string,
    number
  >;
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
    expect(maxLagMillis).toBeGreaterThan(durationMillis - 100);
    expect(maxLagMillis).toBeLessThan(durationMillis + 200);
    expect(blockedMillis).toBeGreaterThan(durationMillis - 10);
    // What guards get that use the mean of `monitorEventLoopDelay`.
    expect(meanDelayMillis).toBeLessThan(durationMillis / 10);
    expect(lagOf(run).maxMillis).toBeGreaterThan(durationMillis - 100);
  });
});

test('register: an ES module sees the new value of an export that is assigned to later', async () => {
  const run = await runApp(
    'rebound-exports.mjs',
    {
      file: appFile('plain/rebound-exports.mjs'),
      nodeArgs: ['--import', REGISTER],
      env: receiver.env,
    },
    async (app) => {
      const get = await warmClientOf(app, '/', 0);
      expect(await get('/')).toBe('old new');
    },
  );
  expect(run).toMatchObject({ code: 0, stderr: '' });
});

test('register: an application that knows nothing of it sends its block, with its function', async () => {
  const options = {
    file: appFile('plain/service.cjs'),
    nodeArgs: ['--import', REGISTER],
    env: receiver.env,
  };
  const run = await runApp('service.cjs', options, async (app) => {
    const get = await warmClientOf(app, '/slow');
    await get('/report');
    await get('/end');
  });

  expect([run.code, run.stderr]).toEqual([7, '']);
  const named = receiver
    .named('event-loop-blocked')
    .filter(({ attributes }) => attributes['code.function.name'] === 'renderReport');
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => expect(named).toHaveLength(1));
  expect(named[0]?.parentSpanId).toBeDefined();
});

test('ongoing: a block is reported while it lasts, and once more when it has ended', async () => {
  const folder = makeFolder();
  const endOfBlock = path.join(folder, 'end');
  const options = { args: ['spinLong', endOfBlock], env: receiver.env };
  const run = await runApp('ongoing.cjs', options, async () => {
    while (receiver.spans.length === 0) await wait(10);
    writeFileSync(endOfBlock, '');
  });
  rmSync(folder, { recursive: true });

  expect(run.code).toBe(0);
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
    expect(run.stderr).toMatch(/^\S+ event-loop-blocked for [\d.]+ s, not ended: spinLong \(.*\n$/),
  );
  expect(receiver.spans).toHaveLength(1);
  expect(receiver.spans[0]?.attributes['event_loop.block.unfinished']).toBe(true);
  const block = expectBlock(run, { truth: 'job', kind: 'callback' });
  expect(block.attributes).not.toHaveProperty('event_loop.block.unfinished');
  expect(receiver.spans[0]?.parentSpanId).toBe(block.parentSpanId);
});

test('testing: a test of node:test that blocks fails, and says where', async () => {
  const own = Object.entries(process.env).filter(
    ([key]) => !/^(OTEL_|NODE_|JEST_|FORCE_COLOR)/.test(key),
  );
  const args = [
    ...BACKGROUND,
    '--test',
    '--test-name-pattern=^(records|fails)$',
    appFile('runners/node-test.mjs'),
  ];
  const options = { env: { ...Object.fromEntries(own), NO_COLOR: '1' } };
  const witness = await startWitness();
  const output = await promisify(execFile)(process.execPath, args, options).catch(
    ({ stdout }) => stdout,
  );
  const { stalls } = await witness.stop();

  expect(output).toMatch(/EventLoopBlockedError/);
  judgeUnlessDelayed(lateOf(stalls), DELAY_MILLIS, () =>
    expect(output).toMatch(/[\d.]+ m?s callback: hashRow \(.*report\.cjs:\d+:\d+\)/),
  );
});

test('troubleshooting: without sampling there is no span, and the console says what blocked', async () => {
  const run = await runApp('one-block.cjs', {
    file: appFile('trouble/one-block.cjs'),
    env: { ...CONSOLE, OTEL_TRACES_SAMPLER: 'always_off' },
  });

  expect(run.stdout).not.toMatch(/^span /m);
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
    expect(run.stderr).toMatch(
      /^event-loop-blocked [\d.]+ m?s callback: work \(.*telemetry\.cjs:\d+:\d+\)/m,
    ),
  );
});
