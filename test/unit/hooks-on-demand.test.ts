import { setImmediate as nextImmediate } from 'node:timers/promises';
import { CallbackStack, REACTION } from '../../src/detect/callbacks.ts';
import { AsyncHooks } from '../../src/detect/hooks/async-hooks.ts';
import { Tick } from '../../src/detect/hooks/tick.ts';
import type { Faults } from '../../src/otel/diag-once.ts';

function setUp(onDemand = true) {
  const calls: string[] = [];
  const classes: number[] = [];
  const ledger = {
    stack: new CallbackStack(),
    isUnknown: false,
    callbackStart: 0,
    arm: (isInCallback: boolean) => calls.push(`arm ${isInCallback}`),
    disarm() {
      calls.push('disarm');
      this.stack.resync(0);
    },
    before: (callbackClass: number) => classes.push(callbackClass),
    after: () => {},
  };
  const woken: string[] = [];
  const lagSampler = {
    isIdle: false,
    wake: (resource: object | undefined) => woken.push(resource?.constructor.name ?? ''),
  };
  const faults: Faults = {};
  let ticks = 0;
  const tick = new Tick(() => {
    ticks++;
    hooks.tick();
  });
  const hooks = new AsyncHooks(
    ledger as never,
    lagSampler,
    () => tick.resource,
    { onDemand, promises: false },
    faults,
  );
  const stop = () => {
    tick.stop();
    hooks.stop();
    expect(faults).toEqual({});
  };
  tick.start();
  hooks.start();
  /** So many ticks later, and in a callback. */
  const afterTicks = async (count: number) => {
    for (const end = ticks + count; ticks < end; ) await nextImmediate();
  };
  return { hooks, tick, ledger, lagSampler, woken, calls, classes, stop, afterTicks };
}

/** Classes of the callbacks that were seen since. */
const seen = (classes: number[]) => classes.splice(0);

test('a stack sample in the middle of their switching off does not switch them on', async () => {
  const { hooks, calls, stop, afterTicks, ledger } = setUp();
  try {
    hooks.watch(true);
    // As far as the test can get into it: Node.js is not done before a microtask has run.
    const { disarm } = ledger;
    ledger.disarm = () => {
      disarm.call(ledger);
      hooks.armInSample(true, performance.now());
      queueMicrotask(() => hooks.armInSample(true, performance.now()));
    };
    await afterTicks(4);
    expect(calls).toEqual([expect.stringMatching(/^arm/), 'disarm']);
    ledger.disarm = disarm;
    hooks.armInSample(true, performance.now());
    expect(calls.at(-1)).toMatch(/^arm/);
  } finally {
    stop();
  }
});

test('a stack sample arms them, in the middle of a callback, for two ticks', async () => {
  const { hooks, calls, classes, stop, afterTicks } = setUp();
  try {
    hooks.watch(true);
    await afterTicks(3);
    calls.length = 0;
    seen(classes);
    await new Promise<void>((resolve) => {
      setImmediate(() => {
        hooks.arm();
        hooks.arm();
        resolve();
      });
    });
    expect(calls).toEqual(['arm true']);
    await afterTicks(1);
    expect(calls).toEqual(['arm true']);
    await afterTicks(2);
    expect(calls).toEqual(['arm true', 'disarm']);
  } finally {
    stop();
  }
});

test('while the loop idles they stay on, and a tick is not what wakes it up', async () => {
  const { hooks, lagSampler, woken, calls, classes, stop, afterTicks } = setUp();
  try {
    hooks.watch(true);
    await afterTicks(3);
    calls.length = 0;
    seen(classes);
    lagSampler.isIdle = true;
    hooks.arm();
    // The tick's own iterations, this timer, and what the test runner is told meanwhile.
    await new Promise<void>((resolve) => setTimeout(resolve, 20));
    expect(woken).toContain('Timeout');
    expect(woken).not.toContain('Immediate');
    expect(calls).not.toContain('disarm');
    lagSampler.isIdle = false;
    await afterTicks(3);
    expect(calls).toContain('disarm');
  } finally {
    stop();
  }
});

test('without stack samples they stay on, until the watchdog thread watches again', async () => {
  const { hooks, calls, classes, stop, afterTicks } = setUp();
  try {
    hooks.watch(true);
    await afterTicks(3);
    hooks.watch(false);
    hooks.samplesLost();
    calls.length = 0;
    seen(classes);
    await afterTicks(5);
    expect(calls).toEqual([]);
    expect(classes).toContain(REACTION);
    hooks.watch(true);
    await afterTicks(3);
    expect(calls.at(-1)).toBe('disarm');
    seen(classes);
    await afterTicks(3);
    expect(classes).toEqual([]);
  } finally {
    stop();
  }
});
