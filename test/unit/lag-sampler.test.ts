import { AsyncLocalStorage } from 'node:async_hooks';
import { CallbackHook } from '../../src/core/record/hooks/callback-hook.ts';
import { LagSampler } from '../../src/core/record/lag/lag-sampler.ts';
import type { Faults } from '../../src/otel/diag-once.ts';
import { SystemClock } from '../../src/support/clock.ts';
import { contextOf, FakeLoop, summary } from './support/fake-loop.ts';

const INTERVAL = 20;
const busy = contextOf('busy');

function setUp(hooked: boolean, canIdle = false) {
  const loop = new FakeLoop(100, hooked, INTERVAL);
  const lags: number[] = [];
  const errors: unknown[] = [];
  const changes: (string | number)[] = [];
  const armed: number[] = [];
  let upkeeps = 0;
  let isThrowing = false;
  const throwing = (throws: boolean) => {
    isThrowing = throws;
  };
  const sampler = new LagSampler(loop.ledger, loop.clock, {
    intervalMillis: INTERVAL,
    canIdle: () => canIdle,
    noLag: (_t, _due, waited) => waited,
    record: (millis, samples) => {
      if (isThrowing) throw new Error('meter');
      for (let i = 0; i < samples; i++) lags.push(millis);
    },
    upkeep: () => upkeeps++,
    idle: () => changes.push('idle'),
    wake: (runsSince) => changes.push(runsSince),
    armed: (due) => armed.push(due),
    onError: (error) => errors.push(error),
  });
  /** The timer's callback, as the loop runs it. */
  const beat = () => loop.ownTick().callback(() => sampler.beat());
  loop.nextIteration();
  beat();
  return { loop, sampler, lags, changes, beat, errors, throwing, upkeeps: () => upkeeps };
}

describe.each([true, false])('with hooks: %p', (hooked) => {
  test('the upkeep is done in the first beat, then in the first one that is 100 ms later', () => {
    const { loop, beat, upkeeps } = setUp(hooked);
    const counts = [upkeeps()];
    for (let beats = 0; beats < 11; beats++) {
      loop.nextIteration(INTERVAL);
      beat();
      counts.push(upkeeps());
    }
    expect(counts).toEqual([1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3]);
  });

  test('a blocked loop is lag, for every arrival in that time', () => {
    const { loop, lags, beat } = setUp(hooked);
    loop.nextIteration(15).callback(65).nextIteration();
    beat();
    expect(lags).toEqual([60, 40, 20]);
  });

  test('between beats it returns how late the next one is', () => {
    const { loop, sampler, beat } = setUp(hooked);
    loop.clock.run(INTERVAL - 1);
    expect(sampler.overdue()).toBe(0);
    loop.clock.run(51);
    expect(sampler.overdue()).toBe(50);
    beat();
    expect(sampler.overdue()).toBe(0);
  });

  test('a process that is stopped while it waits has no lag', () => {
    const { loop, lags, beat } = setUp(hooked);
    loop.nextIteration(5000);
    beat();
    expect(lags).toEqual([0]);
  });
});

describe('without hooks', () => {
  test('it is attributed to the scope that ran most of it', () => {
    const { loop, beat } = setUp(false);
    loop.nextIteration(10);
    for (let i = 0; i < 20; i++) loop.scope(busy, 6).scope(contextOf('other'), 2);
    loop.nextIteration();
    beat();
    expect(loop.blocks.map(summary)).toMatchObject([
      { kind: undefined, length: 160, context: 'busy' },
    ]);
  });
});

describe('a loop that idles', () => {
  const IDLE_BEATS = 10;
  const IDLE_MILLIS = 500;
  const IDLE_INTERVALS = IDLE_MILLIS / INTERVAL;
  const other = {};

  /** Idle for as long as it takes. */
  function idling() {
    const all = setUp(true, true);
    for (let i = 0; i < IDLE_BEATS; i++) {
      expect(all.sampler.isIdle).toBe(false);
      all.loop.nextIteration(INTERVAL);
      all.beat();
    }
    all.lags.length = 0;
    return all;
  }

  test('has as many samples as any other', () => {
    const { loop, lags, beat, sampler } = idling();
    loop.nextIteration(IDLE_MILLIS);
    beat();
    expect(lags).toEqual(new Array(IDLE_INTERVALS).fill(0));
    expect(sampler.isIdle).toBe(true);
  });

  test('that is blocked by what has no hook does not after its next beat', () => {
    const { loop, beat, sampler, changes } = idling();
    loop.nextIteration(IDLE_MILLIS - 5).clock.run(55);
    const due = loop.nextIteration().clock.now();
    beat();
    expect(sampler.isIdle).toBe(false);
    expect(changes).toEqual(['idle', due]);
  });

  test('that wakes up at once has lost nothing', () => {
    const { loop, sampler, lags, beat } = idling();
    loop.nextIteration(1).callback(() => sampler.wake(other));
    loop.nextIteration(INTERVAL - 1);
    beat();
    expect(lags).toEqual([0]);
  });

  test('and is stopped for an hour meanwhile has no lag, and no more samples than while it idles', () => {
    const { loop, sampler, lags, beat } = idling();
    loop.nextIteration(3_600_000).callback(() => sampler.wake(other));
    loop.nextIteration(INTERVAL);
    beat();
    expect(lags).toEqual(new Array(IDLE_INTERVALS + 1).fill(0));
  });

  test('without hooks never does', () => {
    const { loop, beat, sampler } = setUp(false, false);
    for (let i = 0; i < 5 * IDLE_BEATS; i++) {
      loop.nextIteration(INTERVAL);
      beat();
    }
    expect(sampler.isIdle).toBe(false);
  });
});

describe('the timer of a loop that idles', () => {
  const storage = new AsyncLocalStorage<string>();
  const errors: unknown[] = [];
  let onBeat = (): void => {};
  let onIdle = (): void => {};
  let sampler: LagSampler;

  beforeEach(() => {
    sampler = new LagSampler(new FakeLoop(100).ledger, new SystemClock(), {
      intervalMillis: 5,
      canIdle: () => true,
      noLag: (_t, _due, waited) => {
        onBeat();
        return waited;
      },
      record: () => {},
      upkeep: () => {},
      idle: () => onIdle(),
      wake: () => {},
      onError: (error) => errors.push(error),
    });
    sampler.start();
  });
  afterEach(() => {
    sampler.stop();
    expect(errors).toEqual([]);
  });

  test('beats on after what woke it, and not in the context of that', async () => {
    const ledger = { enter: () => {}, leave: () => {} };
    const faults: Faults = {};
    const hooks = new CallbackHook(ledger, sampler, () => undefined, 'always', faults);
    hooks.start();
    try {
      const beats: (string | undefined)[] = [];
      await new Promise<void>((resolve) => {
        onIdle = () => {
          onIdle = resolve;
          onBeat = () => beats.push(storage.getStore());
          storage.run('a request', () => setImmediate(() => {}));
        };
      });
      expect(beats.length).toBeGreaterThanOrEqual(10);
      expect(new Set(beats)).toEqual(new Set([undefined]));
    } finally {
      hooks.stop();
    }
  });
});
