// How long the thread was not given a CPU, and why: exact numbers, on a fake clock and kernel.
import { RunDelay } from '../../src/detect/exclude/run-delay.ts';
import { MIN_SUSPENSION_MILLIS, Suspensions } from '../../src/detect/exclude/suspensions.ts';
import { SharedMemory, Sleeping } from '../../src/sample/shared-memory.ts';
import { Schedstat } from '../../src/support/schedstat.ts';
import { FakeClock } from './support/fake-clock.ts';
import { suspendWatchdog } from './support/note-suspension.ts';

const BEAT = 20;

/** A main thread: what happens to it between two beats of the lag timer. */
class FakeThread {
  readonly clock = new FakeClock();
  readonly memory = new SharedMemory();
  readonly recorded: [reason: string, millis: number][] = [];
  isKnown = true;
  isWatched = true;
  delay = 70;
  slices = 1000;
  preemptions = 300;
  #due = Number.NaN;
  readonly suspensions: Suspensions;

  constructor() {
    const { clock } = this;
    const schedstat = new Schedstat(() => ({
      read: () => {
        if (!this.isKnown) throw new Error('ENOENT');
        return `${clock.cpuTime * 1e6} ${this.delay * 1e6} ${this.slices}\n`;
      },
      close: () => {},
    }));
    this.suspensions = new Suspensions(
      clock,
      {
        runDelay: new RunDelay(clock, schedstat),
        memory: () => (this.isWatched ? this.memory : undefined),
        preemptions: () => this.preemptions,
      },
      (millis, reason) => this.recorded.push([reason, Math.round(millis * 1e3) / 1e3]),
    );
    this.suspensions.start();
  }

  /** It is ready to run, and has no CPU: once, or in so many pieces. */
  starve(millis: number, pieces = 1): this {
    this.clock.time += millis;
    this.delay += millis;
    this.slices += pieces;
    this.preemptions += pieces;
    return this;
  }

  /** It wakes up late, since it has no CPU: libuv takes that for a part of the wait. */
  starveInWait(millis: number): this {
    this.clock.idleTime += millis;
    this.preemptions--;
    return this.starve(millis);
  }

  /** The loop waits for events, and wakes up so often for nothing. */
  wait(millis: number, wakeUps = 1): this {
    this.clock.wait(millis);
    this.slices += wakeUps;
    return this;
  }

  run(millis: number): this {
    this.clock.run(millis);
    return this;
  }

  /** A synchronous call that waits; or the process is stopped. */
  hold(millis: number): this {
    this.clock.time += millis;
    return this;
  }

  /** The watchdog thread was to wake up so long ago, and does now. */
  watchdogIsLate(millis: number, accounted = 0): this {
    suspendWatchdog(this.memory, this.clock.time - millis, this.clock.time, accounted);
    return this;
  }

  /** Returns the lag. */
  beat(): number {
    const { time } = this.clock;
    const due = this.#due;
    this.#due = Number.NaN;
    const noLag = this.suspensions.sample(time, due);
    const lag = Math.max(0, time - due - noLag) || 0;
    this.#due = time + BEAT;
    return lag;
  }

  /** Something runs while the loop idles. */
  wake(): void {
    this.suspensions.sample(this.clock.time, this.#due);
    this.#due = this.clock.time + BEAT;
  }

  /** And the one after: what the watchdog thread had not noted is known then. */
  beats(): this {
    this.beat();
    this.wait(BEAT).beat();
    return this;
  }
}

let thread: FakeThread;
beforeEach(() => {
  thread = new FakeThread();
  thread.beat();
});

test('a loop that waits, runs, or calls what waits is not suspended', () => {
  thread.wait(BEAT).beats();
  thread.run(150).wait(5).beats();
  thread.hold(150).beats();
  expect(thread.recorded).toEqual([]);
});

describe('starved', () => {
  test('in code: for as long as it had no CPU, and that is lag', () => {
    thread.wait(15).run(3).starve(80);
    expect(thread.beat()).toBe(78);
    expect(thread.recorded).toEqual([['starved', 80]]);
  });

  test('while the loop waits, with work to do: the same', () => {
    thread.wait(BEAT).starveInWait(80);
    expect(thread.beat()).toBe(80);
    expect(thread.recorded).toEqual([['starved', 80]]);
  });

  test('once, though the loop woke up often: it was preempted once', () => {
    for (let i = 0; i < 6; i++) thread.wait(3).run(0.1);
    thread.starve(80).beats();
    expect(thread.recorded).toEqual([['starved', 80]]);
  });

  test('several times between two beats: the mean of them', () => {
    for (let i = 0; i < 4; i++) thread.run(4).starve(i % 2 === 0 ? 30 : 50);
    thread.beats();
    expect(thread.recorded).toEqual(Array(4).fill(['starved', 40]));
  });

  test('for less than 20 ms at a time, again and again: put together to 20 ms', () => {
    for (let i = 0; i < 30; i++) thread.run(4).starve(7);
    thread.beats();
    expect(thread.recorded).toEqual(Array(10).fill(['starved', 21]));
  });

  test('for less than 20 ms between two beats: not recorded', () => {
    for (let i = 0; i < 50; i++)
      thread
        .wait(1)
        .starve(MIN_SUSPENSION_MILLIS - 1)
        .beat();
    expect(thread.recorded).toEqual([]);
  });

  test('for minutes: at most a thousand records, and the sum is right', () => {
    for (let i = 0; i < 100; i++) thread.starve(600, 60);
    thread.beats();
    expect(thread.recorded).toEqual(Array(1000).fill(['starved', 60]));
  });
});

describe('stopped', () => {
  test('while the loop waits: once, and it is no lag', () => {
    thread.wait(BEAT + 700);
    expect(thread.beat()).toBe(0);
    thread.wait(BEAT).beat();
    expect(thread.recorded).toEqual([['stopped', 700]]);
  });

  test('while the loop waits, and what it waits for comes first: no lag either', () => {
    thread.wait(BEAT + 700).run(2);
    expect(thread.beat()).toBe(2);
    expect(thread.recorded).toEqual([['stopped', 700]]);
  });

  test('while the loop idles, with work to do at the end of it', () => {
    thread.wait(BEAT + 700).wake();
    thread.wait(BEAT).beat();
    expect(thread.recorded).toEqual([['stopped', 700]]);
  });

  test('in code: as far as the watchdog thread was late, and that is no lag', () => {
    thread.wait(15).run(8).hold(700).watchdogIsLate(690, 2);
    expect(thread.beat()).toBe(3 + 700 - 688);
    expect(thread.recorded).toEqual([]);
    thread.wait(BEAT).beat();
    expect(thread.recorded).toEqual([['stopped', 688]]);
  });

  test('in code, noted by the watchdog thread only after the beat', () => {
    thread.wait(15).run(8).hold(700);
    thread.memory.sleep.set(Sleeping.wakeUp, thread.clock.time - 690);
    expect(thread.beat()).toBe(3 + 700 - 690);
    thread.watchdogIsLate(690);
    thread.memory.sleep.set(Sleeping.wakeUp, thread.clock.time + 50);
    thread.wait(BEAT).beat();
    expect(thread.recorded).toEqual([['stopped', 690]]);
  });

  test('and starved in the same callback: each for its own time', () => {
    thread.run(8).hold(700).watchdogIsLate(700).starve(90).run(30).beats();
    expect(thread.recorded).toEqual([
      ['starved', 90],
      ['stopped', 700],
    ]);
  });

  test('not if only the watchdog thread had no CPU', () => {
    thread.hold(300).watchdogIsLate(280, 280).beats();
    thread.wait(15).watchdogIsLate(15).wait(5).beats();
    expect(thread.recorded).toEqual([]);
  });

  test('in code, without a watchdog: not known', () => {
    thread.isWatched = false;
    thread.hold(700).beats();
    expect(thread.recorded).toEqual([]);
  });

  test('in code, as the process ends', () => {
    thread.hold(700).watchdogIsLate(690);
    thread.suspensions.finish();
    expect(thread.recorded).toEqual([['stopped', 690]]);
    thread.suspensions.stop();
    expect(thread.recorded).toHaveLength(1);
  });
});

describe('if the kernel does not count', () => {
  beforeEach(() => {
    thread = new FakeThread();
    thread.isKnown = false;
    thread.beat();
  });

  test('stopped is what both threads were late', () => {
    thread.wait(BEAT + 700);
    suspendWatchdog(thread.memory, thread.clock.time - 650, thread.clock.time);
    thread.beats();
    thread.hold(300);
    suspendWatchdog(thread.memory, thread.clock.time - 290, thread.clock.time);
    thread.beats();
    expect(thread.recorded).toEqual([
      ['stopped', 650],
      ['stopped', 290],
    ]);
  });

  test('a main thread that was not late was not stopped', () => {
    thread.wait(BEAT);
    suspendWatchdog(thread.memory, thread.clock.time - 300, thread.clock.time);
    thread.beats();
    expect(thread.recorded).toEqual([]);
  });

  test('nothing without a watchdog', () => {
    thread.isWatched = false;
    thread.wait(700).hold(300).beats();
    expect(thread.recorded).toEqual([]);
  });
});

test('a meter that throws is given nothing twice', () => {
  thread.starve(80);
  const push = jest.spyOn(thread.recorded, 'push').mockImplementationOnce(() => {
    throw new Error('meter');
  });
  expect(() => thread.beat()).toThrow('meter');
  push.mockRestore();
  thread.wait(BEAT).beats();
  expect(thread.recorded).toEqual([]);
});

test('what happened while it was stopped and started again is not counted', () => {
  thread.suspensions.stop();
  thread.starve(500);
  thread.suspensions.start();
  thread.beat();
  thread.wait(BEAT).beats();
  expect(thread.recorded).toEqual([]);
});
