// How long the thread was not given a CPU, and why: exact numbers, on a fake clock and kernel.
import { RunDelay } from '../../src/core/record/exclude/run-delay.ts';
import { Suspensions } from '../../src/core/record/exclude/suspensions.ts';
import { SharedMemory } from '../../src/core/sample/shared-memory.ts';
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

describe('starved', () => {
  test('while the loop waits, with work to do: the same', () => {
    thread.wait(BEAT).starveInWait(80);
    expect(thread.beat()).toBe(80);
    expect(thread.recorded).toEqual([['starved', 80]]);
  });

  test('several times between two beats: the mean of them', () => {
    for (let i = 0; i < 4; i++) thread.run(4).starve(i % 2 === 0 ? 30 : 50);
    thread.beats();
    expect(thread.recorded).toEqual(Array(4).fill(['starved', 40]));
  });
});

describe('slept while other threads lacked CPU', () => {
  test('what contains it was told before: only what is more is recorded', () => {
    thread.suspensions.addSlept(1000, 1500, 400);
    thread.suspensions.addSlept(1520, 1700, 100);
    thread.suspensions.addSlept(1000, 1710, 510);
    thread.suspensions.addSlept(1800, 1900, 19);
    thread.suspensions.addSlept(990, 2000, 560);
    expect(thread.recorded).toEqual([
      ['starved', 400],
      ['starved', 100],
      ['starved', 60],
    ]);
  });
});

describe('stopped', () => {
  test('in code: as far as the watchdog thread was late, and that is no lag', () => {
    thread.wait(15).run(8).hold(700).watchdogIsLate(690, 2);
    expect(thread.beat()).toBe(3 + 700 - 688);
    expect(thread.recorded).toEqual([]);
    thread.wait(BEAT).beat();
    expect(thread.recorded).toEqual([['stopped', 688]]);
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
});
