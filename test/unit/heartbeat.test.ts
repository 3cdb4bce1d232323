import { AsyncLocalStorage, executionAsyncResource } from 'node:async_hooks';
import { SystemClock } from '../../src/clock.ts';
import { createCallbackTimer } from '../../src/detect/callback-timer.ts';
import { Heartbeat } from '../../src/detect/heartbeat.ts';
import { contextOf, FakeLoop, summary } from './support/fake-loop.ts';

const INTERVAL = 20;
const busy = contextOf('busy');

function setUp(hooked: boolean, canRest = false) {
  const loop = new FakeLoop(100);
  const lags: number[] = [];
  const errors: unknown[] = [];
  const rests: (string | number)[] = [];
  let upkeeps = 0;
  let isThrowing = false;
  const throwing = (throws: boolean) => {
    isThrowing = throws;
  };
  const heartbeat = new Heartbeat(loop.ledger, loop.clock, {
    intervalMillis: INTERVAL,
    thresholdMillis: 100,
    hooked,
    canRest,
    record: (millis) => {
      if (isThrowing) throw new Error('meter');
      lags.push(millis);
    },
    upkeep: () => upkeeps++,
    rest: () => rests.push('rest'),
    wake: (runsSince) => rests.push(runsSince),
    onError: (error) => errors.push(error),
  });
  /** The timer's callback, as the loop runs it. */
  const beat = () => (hooked ? loop.callback(() => heartbeat.beat()) : heartbeat.beat());
  loop.nextIteration();
  beat();
  return { loop, heartbeat, lags, rests, beat, errors, throwing, upkeeps: () => upkeeps };
}

describe.each([true, false])('with hooks: %p', (hooked) => {
  test('the first beat is no sample, a punctual one has no lag', () => {
    const { loop, lags, beat, upkeeps } = setUp(hooked);
    expect(lags).toEqual([]);
    loop.nextIteration(INTERVAL);
    beat();
    expect(lags).toEqual([0]);
    expect(upkeeps()).toBe(2);
  });

  test('the whole milliseconds that timers count in are no lag', () => {
    const { loop, lags, beat } = setUp(hooked);
    loop.nextIteration(INTERVAL + 0.9);
    beat();
    loop.nextIteration(INTERVAL - 0.4);
    beat();
    expect(lags).toEqual([0, 0]);
  });

  test('a block is lag, for every arrival in that time', () => {
    const { loop, lags, beat } = setUp(hooked);
    loop.nextIteration(15).callback(65).nextIteration();
    beat();
    expect(lags).toEqual([60, 40, 20]);
  });

  test('between beats it knows how late the next one is', () => {
    const { loop, heartbeat, beat } = setUp(hooked);
    loop.clock.run(INTERVAL - 1);
    expect(heartbeat.overdue()).toBe(0);
    loop.clock.run(51);
    expect(heartbeat.overdue()).toBe(50);
    beat();
    expect(heartbeat.overdue()).toBe(0);
  });

  test('a process that is stopped while it waits has no lag', () => {
    const { loop, lags, beat } = setUp(hooked);
    loop.nextIteration(5000);
    beat();
    expect(lags).toEqual([0]);
  });
});

describe('without hooks', () => {
  test('a block is reported by the beat that comes late, without a kind', () => {
    const { loop, beat } = setUp(false);
    loop.nextIteration(10);
    const start = loop.clock.now();
    loop.unseen(150).nextIteration();
    beat();
    expect(loop.blocks.map(summary)).toEqual([
      { kind: undefined, length: 150, callbacks: 1, context: undefined },
    ]);
    expect(loop.blocks[0]?.start).toBe(start);
  });

  test('what a scope reported of it is not reported again', () => {
    const { loop, beat } = setUp(false);
    loop.nextIteration(10).scope(loop.active, 150).nextIteration();
    beat();
    expect(loop.blocks.map(({ kind }) => kind)).toEqual(['callback']);
  });

  test('the scope that ran most of it is blamed', () => {
    const { loop, beat } = setUp(false);
    loop.nextIteration(10);
    for (let i = 0; i < 20; i++) loop.scope(busy, 6).scope(contextOf('other'), 2);
    loop.nextIteration();
    beat();
    expect(loop.blocks.map(summary)).toMatchObject([{ kind: undefined, length: 160, context: 'busy' }]);
  });

  test('a busy loop that yields is none', () => {
    const { loop, beat } = setUp(false);
    for (let i = 0; i < 50; i++) {
      loop.unseen(25).nextIteration();
      beat();
    }
    expect(loop.blocks).toEqual([]);
  });
});

describe('a loop that rests', () => {
  const QUIET_BEATS = 10;
  const REST = 200;
  const other = {};

  /** Quiet for as long as it takes. */
  function rested() {
    const all = setUp(true, true);
    for (let i = 0; i < QUIET_BEATS; i++) {
      expect(all.heartbeat.resting).toBe(false);
      all.loop.nextIteration(INTERVAL);
      all.beat();
    }
    all.lags.length = 0;
    return all;
  }

  test('has been quiet for ten beats', () => {
    const { heartbeat, rests } = rested();
    expect(heartbeat.resting).toBe(true);
    expect(rests).toEqual(['rest']);
  });

  test('is not one that was busy for a fortieth of the time between two of them', () => {
    const { loop, heartbeat, beat } = setUp(true, true);
    for (let i = 0; i < 5 * QUIET_BEATS; i++) {
      loop.nextIteration(INTERVAL - 0.5).callback(i % QUIET_BEATS === 0 ? 0.6 : 0.4);
      loop.nextIteration(0.1);
      beat();
      expect(heartbeat.resting).toBe(false);
    }
  });

  test('has as many samples as any other', () => {
    const { loop, lags, beat, heartbeat } = rested();
    loop.nextIteration(REST);
    beat();
    expect(lags).toEqual(new Array(10).fill(0));
    expect(heartbeat.resting).toBe(true);
  });

  test('that is blocked by what no hook sees does not after its next beat', () => {
    const { loop, beat, heartbeat, rests } = rested();
    loop.nextIteration(REST - 5).unseen(55);
    const due = loop.nextIteration().clock.now();
    beat();
    expect(heartbeat.resting).toBe(false);
    expect(rests).toEqual(['rest', due]);
  });

  test('wakes up when something runs, and beats as it would have without the rest', () => {
    const { loop, heartbeat, lags, beat, rests } = rested();
    loop.nextIteration(50);
    const start = loop.clock.now();
    loop.callback(() => {
      heartbeat.wake(other);
      expect(heartbeat.resting).toBe(false);
      // Would have come after 20 and 40 ms, and does come after 60.
      loop.clock.run(9);
      expect(heartbeat.overdue()).toBe(0);
      loop.clock.run(71);
      expect(heartbeat.overdue()).toBe(70);
    });
    loop.nextIteration();
    beat();
    expect(lags).toEqual([0, 0, 70, 50, 30, 10]);
    expect(rests).toEqual(['rest', start]);
    expect(heartbeat.resting).toBe(false);
  });

  test('that wakes up at once has lost nothing', () => {
    const { loop, heartbeat, lags, beat } = rested();
    loop.nextIteration(1).callback(() => heartbeat.wake(other));
    loop.nextIteration(INTERVAL - 1);
    beat();
    expect(lags).toEqual([0]);
  });

  test('and is stopped for an hour meanwhile has no lag, and no more samples than a rest', () => {
    const { loop, heartbeat, lags, beat } = rested();
    loop.nextIteration(3_600_000).callback(() => heartbeat.wake(other));
    loop.nextIteration(INTERVAL);
    beat();
    expect(lags).toEqual(new Array(11).fill(0));
  });

  test('whose meter throws for long is not owed what it missed', () => {
    const { loop, lags, beat, throwing } = rested();
    throwing(true);
    let thrown = 0;
    for (let i = 0; i < 50; i++) {
      loop.nextIteration(REST);
      try {
        beat();
      } catch {
        thrown++;
      }
    }
    expect(thrown).toBeGreaterThan(10);
    throwing(false);
    for (let i = 0; i < 2; i++) {
      loop.nextIteration(REST);
      beat();
    }
    expect(lags.length).toBeGreaterThan(0);
    expect(lags.length).toBeLessThanOrEqual(20);
  });

  test('without hooks never does', () => {
    const { loop, beat, heartbeat } = setUp(false, false);
    for (let i = 0; i < 5 * QUIET_BEATS; i++) {
      loop.nextIteration(INTERVAL);
      beat();
    }
    expect(heartbeat.resting).toBe(false);
  });
});

describe('the timer of a loop that rests', () => {
  const storage = new AsyncLocalStorage<string>();
  const errors: unknown[] = [];
  let onBeat = (): void => {};
  let onRest = (): void => {};
  let heartbeat: Heartbeat;

  beforeEach(() => {
    heartbeat = new Heartbeat(new FakeLoop(100).ledger, new SystemClock(), {
      intervalMillis: 5,
      thresholdMillis: 100,
      hooked: true,
      canRest: true,
      record: () => {},
      upkeep: () => onBeat(),
      rest: () => onRest(),
      wake: () => {},
      onError: (error) => errors.push(error),
    });
    heartbeat.start();
  });
  afterEach(() => {
    heartbeat.stop();
    expect(errors).toEqual([]);
  });

  const untilRest = () =>
    new Promise<void>((resolve) => {
      onRest = resolve;
    });

  test('beats on after what woke it, and not in the context of that', async () => {
    const ledger = { enter: () => true, before: () => {}, leave: () => 0, after: () => {} };
    const hook = createCallbackTimer(ledger as never, heartbeat, 'promises', (error) => errors.push(error));
    hook.enable();
    try {
      const beats: (string | undefined)[] = [];
      await new Promise<void>((resolve) => {
        onRest = () => {
          onRest = resolve;
          onBeat = () => beats.push(storage.getStore());
          storage.run('a request', () => setImmediate(() => {}));
        };
      });
      expect(beats.length).toBeGreaterThanOrEqual(10);
      expect(new Set(beats)).toEqual(new Set([undefined]));
    } finally {
      hook.disable();
    }
  });

  test('is not what wakes it up', async () => {
    await untilRest();
    await new Promise<void>((resolve) => {
      onBeat = () => {
        heartbeat.wake(executionAsyncResource());
        resolve();
      };
    });
    expect(heartbeat.resting).toBe(true);
    heartbeat.wake({});
    expect(heartbeat.resting).toBe(false);
  });
});
