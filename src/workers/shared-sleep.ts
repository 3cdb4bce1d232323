/**
 * How the watchdog thread that several threads share sleeps: until the first of them is due, or one
 * rings the bell. Each is told whether the thread was suspended while it slept. Watchdog thread
 * only.
 */
import { performance } from 'node:perf_hooks';
import { Flag, Mark, type SharedMemory } from '../sample/shared-memory.ts';
import { noteSuspension } from '../sample/suspension-marks.ts';
import { MAX_SLEEP_MILLIS, MIN_SLEEP_MILLIS, type Sleep } from '../sample/thread-sleep.ts';
import { Schedstat } from '../support/schedstat.ts';
import { ProcessFlag } from './main-thread.ts';

/** Times are those of the watchdog thread's own `performance.now()`. */
interface Sleeper {
  readonly due: number;
  /** An answer of the inspector is awaited: the thread's own event loop has to turn. */
  readonly needsLoop: boolean;
  /** Whether it is to be woken before it is due. */
  isCalled(): boolean;
  wake(): void;
}

/** How a thread sleeps; unit tests bring their own. */
export interface Bed {
  now(): number;
  /** Until the value of the bell differs, or `millis` have passed. No message comes through. */
  wait(flags: Int32Array, bell: number, millis: number): void;
  /** The thread's event loop turns meanwhile. */
  waitInLoop(millis: number, done: () => void): void;
  /** Once messages have come through. */
  soon(action: () => void): void;
}

const BED: Bed = {
  now: () => performance.now(),
  wait: (flags, bell, millis) => Atomics.wait(flags, ProcessFlag.bell, bell, millis),
  waitInLoop: (millis, done) => setTimeout(done, millis),
  soon: (action) => setImmediate(action),
};

export class SharedSleep {
  readonly #sleepers = new Set<Sleeper>();
  readonly #schedstat = new Schedstat();
  #isScheduled = false;
  /** Since when the thread has not slept: what was due later found it at work, not suspended. */
  awakeSince: number;
  /** How long the thread has run, or waited for a CPU, so far; NaN where that is not known. */
  accounted = Number.NaN;

  constructor(
    private readonly flags: Int32Array,
    private readonly bed: Bed = BED,
  ) {
    this.awakeSince = bed.now();
    // Closed by Node.js when the thread ends.
    this.#schedstat.start();
  }

  now(): number {
    return this.bed.now();
  }

  /** Resolves when `due` has come, or before that when it is called. */
  async until(due: number, needsLoop: boolean, isCalled: () => boolean): Promise<void> {
    await new Promise<void>((wake) => {
      this.#sleepers.add({ due, needsLoop, isCalled, wake });
      this.#schedule();
    });
  }

  /** After all that is awake has done what it does, and messages have come through. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.bed.soon(() => {
      this.#isScheduled = false;
      this.#sleep();
    });
  }

  #sleep(): void {
    const bell = Atomics.load(this.flags, ProcessFlag.bell);
    if (this.#wakeWhoIsDue()) {
      this.#schedule();
      return;
    }
    // One that is added later schedules this again.
    if (this.#sleepers.size === 0) return;
    const sleepers = [...this.#sleepers];
    const millis = Math.max(0, Math.min(...sleepers.map(({ due }) => due)) - this.bed.now());
    if (sleepers.some(({ needsLoop }) => needsLoop)) {
      this.#isScheduled = true;
      this.bed.waitInLoop(millis, () => {
        this.#isScheduled = false;
        this.#wokenUp();
      });
      return;
    }
    this.bed.wait(this.flags, bell, millis);
    this.#wokenUp();
  }

  #wokenUp(): void {
    this.awakeSince = this.bed.now();
    const isKnown = this.#schedstat.read();
    this.accounted = isKnown ? this.#schedstat.ran + this.#schedstat.waited : Number.NaN;
    this.#wakeWhoIsDue();
    this.#schedule();
  }

  #wakeWhoIsDue(): boolean {
    const now = this.bed.now();
    let isAnyWoken = false;
    for (const sleeper of this.#sleepers) {
      if (sleeper.due > now && !sleeper.isCalled()) continue;
      this.#sleepers.delete(sleeper);
      sleeper.wake();
      isAnyWoken = true;
    }
    return isAnyWoken;
  }
}

/** The sleep of one watched thread among them. */
export class SleepOfThread implements Sleep {
  /** @param now the watched thread's `performance.now()` */
  constructor(
    private readonly shared: SharedSleep,
    private readonly memory: SharedMemory,
    private readonly now: () => number,
  ) {}

  async sleep(millis: number): Promise<void> {
    const length = Math.min(MAX_SLEEP_MILLIS, Math.max(MIN_SLEEP_MILLIS, millis));
    await this.#sleep(length, false, () => this.#isSet(Flag.closing));
  }

  async sleepWhileIdle(): Promise<void> {
    await this.#sleep(
      MAX_SLEEP_MILLIS,
      false,
      () => !this.#isSet(Flag.idle) || this.#isSet(Flag.closing),
    );
  }

  async sleepInLoop(millis: number): Promise<void> {
    await this.#sleep(millis, true, () => false);
  }

  #isSet(flag: number): boolean {
    return Atomics.load(this.memory.flags, flag) === 1;
  }

  async #sleep(millis: number, needsLoop: boolean, isCalled: () => boolean): Promise<void> {
    const { marks } = this.memory;
    const { shared } = this;
    const due = shared.now() + millis;
    const dueThere = this.now() + millis;
    const accounted = shared.accounted;
    marks[Mark.wakeUp] = dueThere;
    await shared.until(due, needsLoop, isCalled);
    // The watched thread sets it when it ends the sleep.
    const wokenBy = Math.min(dueThere, marks[Mark.wakeUp] as number);
    const wokenAt = this.now();
    // It was due while the thread worked for another one.
    if (wokenBy > wokenAt - (shared.now() - shared.awakeSince)) return;
    noteSuspension(marks, wokenBy, wokenAt, shared.accounted - accounted);
  }
}
