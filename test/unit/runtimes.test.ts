/** What other runtimes lack of Node.js: Bun, Deno, the main process of Electron. */
import { AsyncResource } from 'node:async_hooks';
import { PerformanceObserver } from 'node:perf_hooks';
import { RunDelay } from '../../src/detect/exclude/run-delay.ts';
import { Suspensions } from '../../src/detect/exclude/suspensions.ts';
import { CaptureClient, TO_MAIN_THREAD } from '../../src/sample/capture-session.ts';
import { SharedMemory } from '../../src/sample/shared-memory.ts';
import { FakeClock } from './support/fake-clock.ts';
import { FakeLoop } from './support/fake-loop.ts';

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

/** As Bun and Deno have it: the loop's waits are not counted. */
function withoutIdleTime(threshold: number) {
  const loop = new FakeLoop(threshold, false, INTERVAL);
  loop.clock.idleTime = Number.NaN;
  const beat = (due: number) => loop.ledger.waitedSince(due, loop.clock.now());
  beat(loop.clock.now());
  return { loop, beat };
}

describe('waits of the loop are not counted', () => {
  test('a block outside of all scopes is as long as the beat was late', () => {
    const { loop, beat } = withoutIdleTime(100);
    const due = loop.clock.now() + INTERVAL;
    loop.clock.run(180);
    expect(beat(due)).toBe(0);
    expect(loop.blocks.map(({ start, end }) => [start, end])).toEqual([[due, due + 160]]);
  });

  test('a block is reported if the process ends before the beat that is overdue', () => {
    const { loop, beat } = withoutIdleTime(100);
    const due = loop.clock.now() + INTERVAL;
    loop.clock.run(180);
    loop.ledger.finish();
    const block = [due, due + 160];
    expect(loop.blocks.map(({ start, end }) => [start, end])).toEqual([block]);

    // It comes after all, and has only what ran since to account for.
    loop.clock.run(5);
    beat(due);
    expect(loop.blocks.map(({ start, end }) => [start, end])).toEqual([block]);
  });

  test('the block before a wait is reported when that begins, and the wait is none', () => {
    const { loop, beat } = withoutIdleTime(100);
    const due = loop.clock.now() + INTERVAL;
    loop.clock.run(180);
    loop.ledger.finish();
    loop.clock.run(300);
    loop.ledger.endWait();
    loop.clock.run(50);
    beat(due);
    expect(loop.blocks.map(({ start, end }) => [start, end])).toEqual([[due, due + 160]]);
  });

  test('the block after a wait is as long as it is', () => {
    const { loop, beat } = withoutIdleTime(100);
    const due = loop.clock.now() + INTERVAL;
    loop.ledger.finish();
    loop.clock.run(300);
    loop.ledger.endWait();
    const end = loop.clock.now() + 180;
    loop.clock.run(180);
    beat(due);
    expect(loop.blocks.map((block) => [block.start, block.end])).toEqual([[end - 160, end]]);
  });

  test('beats that are in time are no blocks, at a threshold below their interval', () => {
    const { loop, beat } = withoutIdleTime(10);
    for (let i = 0; i < 5; i++) {
      loop.clock.run(INTERVAL);
      beat(loop.clock.now());
    }
    expect(loop.blocks).toEqual([]);
  });

  test('nor is anything taken for a suspension, and no counters of the kernel are read', () => {
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
  const { capture } = new CaptureClient(
    'expression',
    new SharedMemory(),
    TO_MAIN_THREAD,
    () => 0,
    { sleepInLoop: async () => {} },
    (message) => posted.push(message),
  );
  await capture(0, false, () => {});
  await capture(0, false, () => {});
  return posted;
}

test('an inspector that does not know the command: said once, and no further capture', async () => {
  mockPost.mockImplementation((_method, _params, answer) => {
    answer(new Error("Inspector error -32601: 'Runtime.evaluate' wasn't found"));
  });
  const posted = await captureTwice();
  expect(mockPost).toHaveBeenCalledTimes(1);
  expect(posted).toEqual([
    { type: 'no-capture', reason: 'the inspector of this runtime cannot evaluate' },
  ]);
});

test('an inspector that fails otherwise is asked again', async () => {
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

  test('a runtime that returns another resource than the one that runs knows none', () => {
    const runInAsyncScope = jest
      .spyOn(AsyncResource.prototype, 'runInAsyncScope')
      .mockReturnValue(process.stdin);
    try {
      jest.isolateModules(() => {
        const { currentResource } = require('../../src/detect/hooks/resource-classes.ts');
        expect(currentResource()).toBeUndefined();
      });
    } finally {
      runInAsyncScope.mockRestore();
    }
    jest.isolateModules(() => {
      const { currentResource } = require('../../src/detect/hooks/resource-classes.ts');
      // Of whichever realm.
      const resource = currentResource();
      expect(Object(resource)).toBe(resource);
    });
  });

  test('a runtime without entries for garbage collection: its time is unknown, not 0', () => {
    const types = jest.spyOn(
      PerformanceObserver as unknown as { supportedEntryTypes: string[] },
      'supportedEntryTypes',
      'get',
    );
    types.mockReturnValue(['mark']);
    try {
      jest.isolateModules(() => {
        const { GcMeter } = require('../../src/detect/gc-meter.ts');
        const meter = new GcMeter();
        meter.start();
        expect(meter.within(0, 100)).toBeNaN();
        meter.stop();
      });
    } finally {
      types.mockRestore();
    }
  });
});
