import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextImmediate } from 'node:timers/promises';
import { CallbackHook } from '../../src/core/record/hooks/callback-hook.ts';
import { Tick } from '../../src/core/record/hooks/tick.ts';
import type { Faults } from '../../src/otel/diag-once.ts';
import type { AsyncHooksMode } from '../../src/types.ts';

function setUp(mode: AsyncHooksMode) {
  let entered = 0;
  let left = 0;
  const ledger = { enter: () => void entered++, leave: () => void left++ };
  const woken: string[] = [];
  const lagSampler = {
    isIdle: false,
    wake: (resource: object | undefined) => woken.push(resource?.constructor.name ?? ''),
  };
  const faults: Faults = {};
  const tick = new Tick(() => hook.tick());
  const hook = new CallbackHook(ledger, lagSampler, () => tick.resource, mode, faults);
  tick.start();
  hook.start();
  const stop = () => {
    tick.stop();
    hook.stop();
    expect(faults).toEqual({});
  };
  /** How many callbacks began and ended in the next few iterations. */
  const seen = async () => {
    entered = 0;
    left = 0;
    for (let i = 0; i < 3; i++) await nextImmediate();
    return { entered, left };
  };
  return { hook, lagSampler, woken, stop, seen };
}

const NONE = { entered: 0, left: 0 };

/** Until Node.js 24, the hook may be on only beside promise hooks. */
const storage = new AsyncLocalStorage<number>();
beforeAll(() => storage.run(1, () => {}));
afterAll(() => storage.disable());

test('with auto it is on until the first tick', async () => {
  const { hook, seen, stop } = setUp('auto');
  try {
    hook.watch(true);
    await nextImmediate();
    expect(await seen()).toEqual(NONE);
  } finally {
    stop();
  }
});

test('while the loop idles it is on, and a tick is not what wakes the loop up', async () => {
  const { hook, lagSampler, woken, seen, stop } = setUp('auto');
  try {
    hook.watch(true);
    await nextImmediate();
    lagSampler.isIdle = true;
    hook.switch();
    // The tick's own iterations, this timer, and what the test runner is told meanwhile.
    await new Promise<void>((resolve) => setTimeout(resolve, 20));
    expect(woken).toContain('Timeout');
    expect((await seen()).entered).toBeGreaterThan(0);
    lagSampler.isIdle = false;
    await nextImmediate();
    expect(await seen()).toEqual(NONE);
  } finally {
    stop();
  }
});

test('while the watchdog thread does not watch it is on', async () => {
  const { hook, seen, stop } = setUp('auto');
  try {
    await nextImmediate();
    expect((await seen()).left).toBeGreaterThan(0);
    hook.watch(true);
    await nextImmediate();
    expect(await seen()).toEqual(NONE);
  } finally {
    stop();
  }
});

test('with always it is on, and promise reactions are callbacks too', async () => {
  const { hook, seen, stop } = setUp('always');
  try {
    hook.watch(true);
    await nextImmediate();
    const few = await seen();
    expect(few.left).toBeGreaterThan(0);
    const counted = seen();
    void (async () => {
      for (let i = 0; i < 500; i++) await undefined;
    })();
    // What the test runner is told meanwhile is far less.
    expect(few.left).toBeLessThan(500);
    expect((await counted).left).toBeGreaterThanOrEqual(500);
  } finally {
    stop();
  }
});
