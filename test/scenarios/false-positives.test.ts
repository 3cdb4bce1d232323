/** No false positives: what may seem to block the event loop, and does not. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import {
  expectBlocks,
  expectNothingReported,
  expectQuietExit,
  lagOf,
  POSITION_TOLERANCE_MILLIS,
  truthNamed,
} from './support/expect-blocks.ts';
import {
  type App,
  type AsyncHooksMode,
  type Run,
  runApp,
  type SpanLine,
} from './support/run-app.ts';
import { test } from './support/scenario.ts';
import { delayInGap, judgeUnlessDelayed, runDelayOf } from './support/validity.ts';

const MODES: AsyncHooksMode[] = ['always', 'auto'];

/**
 * How long everything here waits, works or sleeps. If that were taken for lag it would be about as
 * much.
 */
const WAIT_MILLIS = 500;
/** Of the lag timer: the default of `lagIntervalMillis`. */
const BEAT_MILLIS = 20;
/** The lag of a loop that is free. */
const FREE_LAG_MILLIS = 100;
/** The part of it that the machine may take. */
const LAG_DELAY_MILLIS = 10;
/** The part of the tolerance for positions that the machine may take. */
const POSITION_DELAY_MILLIS = 3;

const expectFreeLoop = (run: Run) =>
  judgeUnlessDelayed(runDelayOf(run), LAG_DELAY_MILLIS, () =>
    expect(lagOf(run).maxMillis).toBeLessThan(FREE_LAG_MILLIS),
  );

/** Answers every request, after a while. */
let slowServer: Server;
let slowPort: string;

beforeAll(async () => {
  slowServer = createServer((socket) => {
    const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nlate';
    setTimeout(() => socket.end(answer), WAIT_MILLIS);
    socket.on('error', () => {});
    socket.resume();
  }).listen(0, '127.0.0.1');
  await once(slowServer, 'listening');
  slowPort = String((slowServer.address() as AddressInfo).port);
});

afterAll(() => slowServer.close());

describe.each(MODES)('with asyncHooks %s', (asyncHooks) => {
  test.each(['idle', 'busy but yielding'])('a process that is %s', async (scenario) => {
    const run = await runApp('no-blocks.cjs', { asyncHooks, args: [scenario] });

    expectNothingReported(run);
    expectQuietExit(run);
    judgeUnlessDelayed(runDelayOf(run), LAG_DELAY_MILLIS, () => {
      // it was sampled all the time
      expect(lagOf(run).count).toBeGreaterThan((WAIT_MILLIS / 20) * 0.8);
      expect(lagOf(run).meanMillis).toBeLessThan(10);
      expect(lagOf(run).maxMillis).toBeLessThan(FREE_LAG_MILLIS);
    });
  });

  test.each([
    'waiting for an HTTP answer',
    'waiting for a file',
    'another thread waiting',
    'another thread busy',
  ])('%s', async (scenario) => {
    const run = await runApp('no-blocks.cjs', {
      asyncHooks,
      args: [scenario],
      env: { SLOW_PORT: slowPort },
    });

    expect(truthNamed(run, 'waited').durationMillis).toBeGreaterThan(WAIT_MILLIS / 2);
    expectNothingReported(run);
    expectQuietExit(run);
    expectFreeLoop(run);
  });

  test.each([
    ['startup of a module', ['module']],
    ['startup in ticks and microtasks', ['module', 'tick', 'microtask']],
  ])('%s', async (scenario, truths) => {
    const run = await runApp('no-blocks.cjs', { asyncHooks, args: [scenario] });

    expect(run.truths.map((truth) => truth.label)).toEqual(truths);
    expectNothingReported(run);
    expectQuietExit(run);
    expectFreeLoop(run);
  });

  test('startup of an ES module with a top-level await', async () => {
    const run = await runApp('startup.mjs', { asyncHooks });

    expect(run.truths.map((truth) => truth.label)).toEqual(['module', 'after an await']);
    expectNothingReported(run);
    expectQuietExit(run);
    expectFreeLoop(run);
  });
});

describe('a process that is suspended inside of JavaScript', () => {
  const stopped = async (app: App) => {
    await app.printed('working');
    app.child.kill('SIGSTOP');
    await wait(WAIT_MILLIS);
    app.child.kill('SIGCONT');
  };

  test('waiting in synchronous I/O is a block, with hardly any CPU', async () => {
    const run = await runApp('suspended.cjs', { args: ['synchronous I/O'] });

    expectBlocks(run, [{ truth: 'synchronous I/O', kind: 'callback', parent: 'none' }]);
    expectQuietExit(run);
    const cpuTime = run.blocks[0]?.attributes['event_loop.block.cpu_time'];
    if (cpuTime !== undefined) expect(Number(cpuTime)).toBeLessThan(0.2 * (WAIT_MILLIS / 1e3));
  });

  test('work that the stop only makes longer is a block', async () => {
    const run = await runApp('suspended.cjs', { args: ['stopped and busy'] }, stopped);

    expectBlocks(run, [{ truth: 'stopped and busy', kind: 'callback', parent: 'none' }]);
    expectQuietExit(run);
  });

  test('work that is stopped at its start is a block, which may begin a beat too late', async () => {
    const run = await runApp('suspended.cjs', { args: ['stopped at its start'] }, stopped);

    // Until the beat of the lag timer that is overdue, the loop may have waited for events.
    const { startMillis, endMillis } = truthNamed(run, 'stopped at its start');
    const [block, ...others] = run.blocks as [SpanLine, ...SpanLine[]];
    expect(others).toEqual([]);
    const late = block.startMillis - startMillis;
    expect(late).toBeGreaterThan(-POSITION_TOLERANCE_MILLIS);
    expect(late).toBeLessThan(BEAT_MILLIS + POSITION_TOLERANCE_MILLIS);
    // the clock may be read once another process has had the CPU
    const delayMillis = delayInGap(run, block, endMillis, block.endMillis);
    judgeUnlessDelayed(delayMillis, POSITION_DELAY_MILLIS, () =>
      expect(Math.abs(block.endMillis - endMillis)).toBeLessThan(POSITION_TOLERANCE_MILLIS),
    );
    expectQuietExit(run);
  });
});
