/** Waits for events that libuv does not count, since a signal interrupted them. */
import { ROOT_CONTEXT } from '@opentelemetry/api';
import { FakeLoop, summary } from './support/fake-loop.ts';

const THRESHOLD = 100;
/** The kernel counts CPU time in steps: so much may have run. */
const GRAIN = 4;
const loop = () => new FakeLoop(THRESHOLD).primed();
const reported = (l: FakeLoop) => l.settle().map(summary);

describe('with async hooks', () => {
  test('nor do short callbacks become a block by it', () => {
    const l = loop();
    for (let i = 0; i < 8; i++) l.callback(10);
    l.nextIteration();
    l.clock.waitUncounted(180);
    expect(reported(l.callback(1))).toEqual([]);
  });

  test('nor does a wait between two callbacks, on a machine that lacks CPUs', () => {
    const l = loop();
    l.threadTimes = (start, end) => ({ ranAtMost: 12, atMost: end - start });
    l.callback(10);
    l.clock.waitUncounted(300);
    l.callback(2);
    expect(reported(l)).toEqual([]);
  });

  test('it is no lag, and the loop was not busy in it', () => {
    const l = loop().callback(1).nextIteration();
    const due = l.clock.now() + 50;
    l.clock.waitUncounted(180);
    const idle = l.clock.waited();
    l.callback(() => {
      // As the callback that wakes up a loop that idles.
      l.ledger.finish();
      expect(l.ledger.waitedSince(due, l.clock.now())).toBe(130 - GRAIN);
      expect(l.clock.waited() - idle).toBe(180 - GRAIN);
    });
  });

  describe('what runs is a block', () => {
    test('a synchronous call that waits, after an await: a stack sample shows it', () => {
      const l = loop().callback(1);
      l.clock.time += 150;
      l.sample(ROOT_CONTEXT, 'waits');
      expect(reported(l)).toMatchObject([{ kind: 'microtasks', length: 151 }]);
    });

    test('promise reactions without hooks, while other processes have the CPU', () => {
      const l = new FakeLoop(THRESHOLD).primed();
      let lacked = 0;
      l.threadTimes = () => ({ ranAtMost: 60, atMost: lacked });
      l.callback(1).reaction(60);
      l.clock.time += 90;
      lacked = 90;
      expect(reported(l)).toMatchObject([{ length: 151 }]);
    });
  });
});

test("the kernel's counters are read only if the thread did not run all the time", () => {
  const l = loop();
  const asked: number[] = [];
  l.threadTimes = (start, end) => {
    asked.push(end - start);
    return { ranAtMost: end - start, atMost: 0 };
  };
  l.callback(20).reaction(20).nextIteration();
  l.callback(1);
  expect(asked).toEqual([]);
  l.nextIteration();
  l.clock.waitUncounted(20);
  l.callback(1).ownTick();
  expect(asked).toEqual([20]);
});

describe('without async hooks', () => {
  const INTERVAL = 200;
  const unhooked = () => {
    const l = new FakeLoop(THRESHOLD, false, INTERVAL).ownTick();
    l.ledger.waitedSince(Number.NaN, l.clock.now());
    return l;
  };
  /** The beat that was due an interval after `from` comes now. */
  const beat = (l: FakeLoop, from: number) =>
    l.ownTick().ledger.waitedSince(from + INTERVAL, l.clock.now());

  test('a wait that is not counted is no block', () => {
    const l = unhooked();
    const from = l.clock.now();
    l.clock.waitUncounted(150);
    l.clock.wait(INTERVAL - 150);
    expect(beat(l, from)).toBe(0);
    expect(l.blocks).toEqual([]);
    expect(l.clock.lostWaits).toBe(150 - GRAIN);
  });

  test('a synchronous call that waits is one: the beat is late', () => {
    const l = unhooked();
    const from = l.clock.now();
    l.clock.wait(150);
    l.clock.time += 300;
    beat(l, from);
    expect(l.blocks.map(summary)).toMatchObject([{ length: 300 }]);
  });
});
