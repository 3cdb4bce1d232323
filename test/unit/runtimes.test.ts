/** What other runtimes lack of Node.js: Bun, Deno, the main process of Electron. */
import { RunDelay } from '../../src/core/record/exclude/run-delay.ts';
import { Suspensions } from '../../src/core/record/exclude/suspensions.ts';
import { CaptureClient, TO_MAIN_THREAD } from '../../src/core/sample/capture-session.ts';
import { SharedMemory } from '../../src/core/sample/shared-memory.ts';
import { FakeClock } from './support/fake-clock.ts';

const INTERVAL = 20;
const mockPost = jest.fn();

jest.mock('node:inspector', () => ({
  Session: class {
    connectToMainThread() {}
    post = mockPost;
    removeAllListeners() {}
    disconnect() {}
  },
}));

describe('waits of the loop are not counted', () => {
  test('nothing is taken for a suspension, and no counters of the kernel are read', () => {
    const clock = new FakeClock();
    clock.idleTime = Number.NaN;
    const recorded: number[] = [];
    const runDelay = new RunDelay(clock);
    const suspensions = new Suspensions(
      clock,
      { runDelay, memory: () => undefined, preemptions: () => 0 },
      (millis) => recorded.push(millis),
    );
    for (let i = 0; i < 3; i++) {
      clock.time += INTERVAL;
      suspensions.sample(clock.time, clock.time);
    }
    expect(recorded).toEqual([]);
  });
});

/** Asks twice; returns what the watchdog thread has said. */
async function captureTwice(): Promise<unknown[]> {
  const posted: unknown[] = [];
  const client = new CaptureClient(
    'expression',
    new SharedMemory(),
    TO_MAIN_THREAD,
    () => 0,
    { sleepInLoop: async () => {} },
    (message) => posted.push(message),
  );
  await client.capture(0, false, () => {});
  await client.capture(0, false, () => {});
  return posted;
}

test('an inspector that fails is asked again', async () => {
  mockPost.mockReset().mockImplementation((_method, _params, answer) => answer(new Error('busy')));
  const posted = await captureTwice();
  expect(mockPost).toHaveBeenCalledTimes(2);
  expect(posted).toEqual([]);
});

describe('found by what the runtime does', () => {
  const clockModule = () => {
    let module: typeof import('../../src/support/clock.ts') | undefined;
    jest.isolateModules(() => {
      module = require('../../src/support/clock.ts');
    });
    return module as typeof import('../../src/support/clock.ts');
  };

  test.each([
    ['the main process of Electron', '44.0.0', 'browser', false],
    ['Electron as Node.js', '44.0.0', undefined, true],
    ['Node.js', undefined, undefined, true],
  ])('%s counts the waits of its loop: %#', (_name, electron, type, counts) => {
    const host = process as { type?: string };
    const { versions } = process;
    Object.defineProperty(process, 'versions', {
      value: { ...versions, ...(electron && { electron }) },
      configurable: true,
    });
    if (type !== undefined) host.type = type;
    try {
      const { canCountIterations, SystemClock } = clockModule();
      expect(canCountIterations).toBe(counts);
      expect(Number.isNaN(new SystemClock().idle())).toBe(!counts);
    } finally {
      Object.defineProperty(process, 'versions', { value: versions, configurable: true });
      delete host.type;
    }
  });
});
