/**
 * How the watchdog thread that several threads share sleeps: until the first of them is due, or one
 * wakes it up. Each is told whether the thread was suspended while it slept. Watchdog thread
 * only.
 */
import { ProcessWord, type SharedMemory, Word } from '../../core/sample/shared-memory.ts';
import { noteSuspension, wakeUpIn } from '../../core/sample/suspensions.ts';
import {
  announceSleep,
  boundSleep,
  MAX_SLEEP_MILLIS,
  type Sleep,
} from '../../core/sample/thread-sleep.ts';
import { Schedstat } from '../../support/schedstat.ts';
import { now, setImmediate, setTimeout } from '../../support/time.ts';

/** What makes the thread wait; unit tests bring their own. */
export interface Waiting {
  now(): number;
  /** Until the number of wake-ups differs, or `millis` have passed. No message comes through. */
  wait(words: Int32Array, wakeUps: number, millis: number): void;
  /** The thread's event loop turns meanwhile. */
  waitInLoop(millis: number, done: () => void): void;
  /** Once messages have come through. */
  soon(action: () => void): void;
}

const WAITING: Waiting = {
  now,
  wait: (words, wakeUps, millis) => Atomics.wait(words, ProcessWord.wakeUps, wakeUps, millis),
  waitInLoop: (millis, done) => setTimeout(done, millis),
  soon: (action) => setImmediate(action),
};

export class SharedSleep {
  readonly #sleepers = new Set<{
    readonly due: number;
    /** An answer of the inspector is awaited: the thread's own event loop has to turn. */
    readonly needsLoop: boolean;
    /** Whether it is to be woken before it is due. */
    isCalled(): boolean;
    wake(): void;
  }>();
  readonly #schedstat = new Schedstat();
  #isScheduled = false;
  /** Since when the thread has not slept: what was due later found it at work, not suspended. */
  awakeSince: number;
  /** How long the thread has run, or waited for a CPU, so far; NaN if that is not known. */
  accounted = Number.NaN;

  constructor(
    private readonly words: Int32Array,
    private readonly waiting: Waiting = WAITING,
  ) {
    this.awakeSince = waiting.now();
    // Closed by Node.js when the thread ends.
    this.#schedstat.start();
  }

  now(): number {
    return this.waiting.now();
  }

  /** Resolves when `due` has come, or before that if the thread is woken up and `isCalled`. */
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
    this.waiting.soon(() => {
      this.#isScheduled = false;
      this.#sleep();
    });
  }

  #sleep(): void {
    const wakeUps = Atomics.load(this.words, ProcessWord.wakeUps);
    if (this.#wakeWhoIsDue()) {
      this.#schedule();
      return;
    }
    // One that is added later schedules this again.
    if (this.#sleepers.size === 0) return;
    const sleepers = [...this.#sleepers];
    const millis = Math.max(0, Math.min(...sleepers.map(({ due }) => due)) - this.waiting.now());
    if (sleepers.some(({ needsLoop }) => needsLoop)) {
      this.#isScheduled = true;
      this.waiting.waitInLoop(millis, () => {
        this.#isScheduled = false;
        this.#wokenUp();
      });
      return;
    }
    this.waiting.wait(this.words, wakeUps, millis);
    this.#wokenUp();
  }

  #wokenUp(): void {
    this.awakeSince = this.waiting.now();
    const isKnown = this.#schedstat.read();
    this.accounted = isKnown ? this.#schedstat.ran + this.#schedstat.waited : Number.NaN;
    this.#wakeWhoIsDue();
    this.#schedule();
  }

  #wakeWhoIsDue(): boolean {
    const now = this.waiting.now();
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

export class SleepOfThread implements Sleep {
  /** @param now the watched thread's `performance.now()` */
  constructor(
    private readonly shared: SharedSleep,
    private readonly memory: SharedMemory,
    private readonly now: () => number,
  ) {}

  async sleep(millis: number): Promise<void> {
    await this.#sleep(boundSleep(millis), false, () => this.memory.isSet(Word.closing));
  }

  async sleepWhileIdle(): Promise<void> {
    const { memory } = this;
    const isCalled = () => !memory.isSet(Word.idle) || memory.isSet(Word.closing);
    await this.#sleep(MAX_SLEEP_MILLIS, false, isCalled, true);
  }

  async sleepInLoop(millis: number): Promise<void> {
    await this.#sleep(millis, true, () => false);
  }

  async #sleep(
    millis: number,
    needsLoop: boolean,
    isCalled: () => boolean,
    untilWoken?: boolean,
  ): Promise<void> {
    const { memory, shared } = this;
    const { accounted } = shared;
    announceSleep(memory, this.now() + millis, untilWoken);
    await shared.until(shared.now() + millis, needsLoop, isCalled);
    const due = wakeUpIn(memory);
    const wokenAt = this.now();
    // It was due while the watchdog thread worked for another thread.
    if (due > wokenAt - (shared.now() - shared.awakeSince)) return;
    noteSuspension(memory, due, wokenAt, shared.accounted - accounted);
  }
}
