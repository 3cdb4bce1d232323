/** Time in which the thread was not given a CPU: counted with its reason, and nobody's block. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import {
  expectBlock,
  expectNoOtherBlock,
  expectNothingReported,
  expectQuietExit,
  lagOf,
  truthNamed,
} from './support/expect-blocks.ts';
import { quotaGroup } from './support/quota-group.ts';
import {
  type App,
  type AppOptions,
  type HistogramValue,
  type Run,
  runApp,
  type Truth,
} from './support/run-app.ts';
import { test, VoidMeasurement } from './support/scenario.ts';
import { judgeUnlessDelayed, lateOf, runDelayOf } from './support/validity.ts';

const STOP_MILLIS = 700;
/** The watchdog thread may be asleep for so long when a stop begins: half of the threshold. */
const WATCHDOG_SLEEP_MILLIS = 50;
/** Timers count whole milliseconds, and processes wake up late on a machine that is not idle. */
const GRAIN_MILLIS = 10;
const FREE_LAG_MILLIS = 100;
/** The part of it that the machine may take. */
const LAG_DELAY_MILLIS = 10;
/** Two readings of the same counter, one after the other. */
const READING_MILLIS = 5;

/** Of the time in a truth: with the CPU that it uses this reaches the threshold. */
const UNKNOWN_MILLIS = 20;

const MODES = ['auto', 'always'] as const;

/** What was recorded with this reason, in milliseconds. */
function suspended(run: Run, reason: string): { count: number; millis: number; least: number } {
  const points = run.metrics.filter(
    ({ name, attributes }) =>
      name === 'event_loop.suspension.duration' &&
      attributes['event_loop.suspension.reason'] === reason,
  );
  const values = points.map(({ value }) => value as HistogramValue);
  return {
    count: values.reduce((sum, { count }) => sum + count, 0),
    millis: values.reduce((sum, value) => sum + value.sum * 1e3, 0),
    least: Math.min(...values.map(({ min }) => min * 1e3)),
  };
}

/** Milliseconds in which the thread neither ran nor lacked a CPU: it waited for another thread. */
const sleptIn = (truth: Truth) =>
  truth.durationMillis -
  ((truth.delayAtEndMillis ?? 0) - (truth.delayAtStartMillis ?? 0)) -
  ((truth.cpuAtEndMillis ?? 0) - (truth.cpuAtStartMillis ?? 0));

const expectFreeLag = (run: Run) =>
  judgeUnlessDelayed(runDelayOf(run), LAG_DELAY_MILLIS, () =>
    expect(lagOf(run).maxMillis).toBeLessThan(FREE_LAG_MILLIS),
  );

/** Stops it for a while; how long that was at least, and at most. */
async function stop(child: ChildProcess): Promise<{ least: number; most: number }> {
  const before = performance.now();
  child.kill('SIGSTOP');
  const stopped = performance.now();
  await wait(STOP_MILLIS);
  const least = performance.now() - stopped;
  child.kill('SIGCONT');
  return { least, most: performance.now() - before };
}

describe('a process that is stopped', () => {
  test.each(MODES)('in code: counted, without lag, with asyncHooks %s', async (asyncHooks) => {
    let stopped = { least: 0, most: 0 };
    const run = await runApp('suspended.cjs', { asyncHooks, args: ['stopped'] }, async (app) => {
      await app.printed('working');
      stopped = await stop(app.child);
    });

    expectQuietExit(run);
    expectNothingReported(run);
    const { count, millis } = suspended(run, 'stopped');
    const late = lateOf(run.stalls) + runDelayOf(run);
    expect(count).toBeGreaterThanOrEqual(1);
    expect(millis).toBeGreaterThan(stopped.least - WATCHDOG_SLEEP_MILLIS - GRAIN_MILLIS - late);
    expect(millis).toBeLessThan(stopped.most + GRAIN_MILLIS + late);
    expectFreeLag(run);
  });

  test('before a span ends: that was not stalled by any block', async () => {
    const run = await runApp(
      'suspended.cjs',
      { asyncHooks: 'always', args: ['stopped before a span ends'] },
      async (app) => {
        await app.printed('working');
        await stop(app.child);
      },
    );

    expectQuietExit(run);
    const truth = truthNamed(run, 'stopped before a span ends');
    const blocks = run.blocks.filter(
      ({ startMillis, endMillis }) =>
        endMillis > truth.startMillis && startMillis < truth.endMillis,
    );
    expect(blocks).toEqual([]);
    // Before it, V8's threads may have had no CPU to collect garbage.
    expectNoOtherBlock(run, truth.label);
    const span = run.spans.find(({ name }) => name === 'under way');
    expect(span?.links).toEqual([]);
    expect(span?.durationMillis).toBeGreaterThan(STOP_MILLIS);
    expect(span?.attributes['event_loop.stall.duration']).toBeUndefined();
  });

  test.each(MODES)('while its loop waits, with asyncHooks %s', async (asyncHooks) => {
    let stopped = { least: 0, most: 0 };
    const run = await runApp('no-blocks.cjs', { asyncHooks, args: ['service'] }, async (app) => {
      const url = `http://127.0.0.1:${await app.printed('listening ')}/`;
      for (let i = 0; i < 3; i++) await (await fetch(url)).text();
      await wait(500); // the first beats, which come every 200 ms here
      // Asked while it is stopped: what comes first then is the request, not the beat.
      const stopping = stop(app.child);
      const answer = fetch(url);
      stopped = await stopping;
      await (await answer).text();
      await wait(300); // at least one beat
    });

    expectQuietExit(run);
    expectNothingReported(run);
    const { count, millis } = suspended(run, 'stopped');
    const late = lateOf(run.stalls) + runDelayOf(run);
    // Until the next beat is due, the loop may just wait.
    expect(count).toBeGreaterThanOrEqual(1);
    expect(millis).toBeGreaterThan(stopped.least - 200 - GRAIN_MILLIS - late);
    expect(millis).toBeLessThan(stopped.most + GRAIN_MILLIS + late);
    expectFreeLag(run);
  });
});

/**
 * Each with all that it was without a CPU: between the first beat and the end at most, inside of
 * what it did at least.
 */
function expectWithoutCpu(run: Run): void {
  const { count, millis, least: shortest } = suspended(run, 'starved');
  const [short, long] = ['15 ms of CPU', '120 ms of CPU'].map((label) => truthNamed(run, label));
  const delayIn = (truth: typeof short) =>
    (truth?.delayAtEndMillis ?? 0) - (truth?.delayAtStartMillis ?? 0);
  const inTruths = [short, long].map(delayIn).filter((delay) => delay >= 20);
  expect(inTruths.length).toBeGreaterThan(0); // it had no CPU in there
  const least = inTruths.reduce((sum, delay) => sum + delay, 0);
  expect(millis).toBeGreaterThan(least - READING_MILLIS);
  // V8's threads lack CPU as well: the thread may have waited for one of them.
  const slept = run.truths.reduce((sum, truth) => sum + Math.max(0, sleptIn(truth)), 0);
  const most = Number(run.notes['waited for a CPU']) + slept + READING_MILLIS;
  expect(millis).toBeLessThan(most);
  if (count > 0) expect(shortest).toBeGreaterThanOrEqual(20);

  // The code's own part of the one is shorter than the threshold, that of the other longer.
  const { startMillis = 0, endMillis = 0 } = short ?? {};
  const inShort = run.blocks.filter(
    (block) => block.startMillis < endMillis && block.endMillis > startMillis,
  );
  if (inShort.length > 0 && short !== undefined) judgeAccounted(short, delayIn(short));
  expect(inShort).toEqual([]);
  const block = expectBlock(run, { truth: '120 ms of CPU', kind: 'callback', parent: 'none' });
  const cpuTime = block.attributes['event_loop.block.cpu_time'];
  if (cpuTime !== undefined) {
    const own = block.durationMillis - delayIn(long);
    expect(Number(cpuTime) * 1e3).toBeLessThan(own + 2 * READING_MILLIS);
  }
  expectQuietExit(run);
}

/**
 * Void if the kernel counts so much of the time neither as run nor as waited for a CPU, though
 * what the truth does waits for nothing else.
 */
function judgeAccounted(truth: Truth, delayMillis: number): void {
  const { durationMillis, cpuAtStartMillis = 0, cpuAtEndMillis = Number.NaN } = truth;
  const unknown = durationMillis - delayMillis - (cpuAtEndMillis - cpuAtStartMillis);
  if (unknown > UNKNOWN_MILLIS)
    throw new VoidMeasurement(
      `of ${durationMillis.toFixed(1)} ms ${unknown.toFixed(1)} are unknown`,
    );
}

/** The CPUs that this process may use: tests let their processes get in each other's way there. */
function allowedCpus(): string[] {
  if (spawnSync('taskset', ['-V']).status !== 0) return [];
  const status = readFileSync('/proc/self/status', 'latin1');
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(status)?.[1] ?? '';
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => String(first + i));
  });
}

/** Keeps a CPU busy. Ends by itself, too. */
const keepBusy = (cpu: string) =>
  spawn(
    'taskset',
    [
      '-c',
      cpu,
      process.execPath,
      '-e',
      'const end = Date.now() + 20000; while (Date.now() < end);',
    ],
    { stdio: 'ignore' },
  );

const [cpu, otherCpu] = process.platform === 'linux' ? allowedCpus() : [];
const testWithCpu = cpu === undefined ? undefined : test;
if (testWithCpu === undefined) {
  globalThis.test.skip('starved by other processes: there is no taskset here', () => {});
}
/** Lets the app go while another process wants its CPU. */
async function goBesideOther(app: App): Promise<void> {
  await app.printed('ready');
  const other = keepBusy(cpu as string);
  try {
    await wait(100);
    app.child.stdin?.write('go\n');
    await app.printed('done');
  } finally {
    other.kill('SIGKILL');
  }
}

testWithCpu?.('a process that is starved by another one on its CPU', async () => {
  const pin = ['-c', cpu as string];
  const options: AppOptions = {
    node: 'nice',
    // A quarter of the CPU is left to it.
    nodeArgs: ['-n', '5', 'taskset', ...pin, process.execPath],
  };
  const run = await runApp('without-cpu.cjs', options, goBesideOther);
  expectWithoutCpu(run);
  const [block] = run.blocks.filter(({ durationMillis }) => durationMillis > 100);
  expect(block?.attributes['event_loop.block.cause'] ?? 'javascript').toBe('javascript');
});

/** Waited for V8's threads, at least once: else the test has not tested anything. */
const MIN_SLEPT_MILLIS = 50;

(otherCpu === undefined ? globalThis.test.skip : test)(
  "a main thread that waits for V8's threads, which are starved",
  async () => {
    const args = [otherCpu as string, cpu as string];
    const run = await runApp('starved-collections.cjs', { args }, goBesideOther);
    if (!run.truths.some((truth) => sleptIn(truth) >= MIN_SLEPT_MILLIS))
      throw new VoidMeasurement('garbage was collected without waiting');
    expectNothingReported(run);
    expectQuietExit(run);
  },
);

const probe = process.platform === 'linux' ? quotaGroup() : undefined;
probe?.drop();
if (probe === undefined) {
  globalThis.test.skip('throttled by a CPU quota: no control group can be made here', () => {});
} else {
  test('a process that is out of its CPU quota', async () => {
    const group = quotaGroup();
    try {
      const run = await runApp('without-cpu.cjs', { ...group?.options }, async (app) => {
        await app.printed('ready');
        app.child.stdin?.write('go\n');
        await app.printed('done');
      });
      expectWithoutCpu(run);
    } finally {
      group?.drop();
    }
  });
}
