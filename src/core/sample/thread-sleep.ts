/**
 * How the main thread's watchdog thread sleeps. Guarantees: it is written down when the thread runs
 * next, so that a suspension shows.
 */
import { Schedstat } from '../../support/schedstat.ts';
import { nextIteration, sleep } from '../../support/time.ts';
import { type SharedMemory, Sleeping, Word } from './shared-memory.ts';
import { noteSuspension, wakeUpIn } from './suspensions.ts';

/** The thread has to notice when it is to end. */
export const MAX_SLEEP_MILLIS = 500;
const MIN_SLEEP_MILLIS = 0.5;

export const boundSleep = (millis: number) =>
  Math.min(MAX_SLEEP_MILLIS, Math.max(MIN_SLEEP_MILLIS, millis));

/** Call it before a sleep that ends at `wakeUp`, a time of the watched thread. */
export function announceSleep({ sleep }: SharedMemory, wakeUp: number, untilWoken = false): void {
  sleep.values[Sleeping.wakeUp] = wakeUp;
  sleep.values[Sleeping.untilWoken] = untilWoken ? 1 : 0;
  sleep.publish();
}

/** The sleep of the thread that watches, for one watched thread. */
export interface Sleep {
  /** Ends early when the watched thread says that it closes. */
  sleep(millis: number): void | Promise<void>;
  /** Sleeps until the watched thread says that something runs, or for long. */
  sleepWhileIdle(): void | Promise<void>;
  /** Lets the thread's own event loop turn: the inspector's answer needs it. */
  sleepInLoop(millis: number): Promise<void>;
}

export class ThreadSleep implements Sleep {
  /** How long the thread had run, and waited for a CPU, when it woke up last. */
  #accounted = Number.NaN;

  constructor(
    private readonly memory: SharedMemory,
    private readonly now: () => number,
    private readonly schedstat = new Schedstat(),
  ) {
    // Closed by Node.js when the thread ends.
    this.schedstat.start();
    this.#account();
  }

  /** `Atomics.wait`: half as dear as a timer, and as exact. No message comes through meanwhile. */
  sleep(millis: number): void {
    const length = boundSleep(millis);
    this.#announce(length);
    Atomics.wait(this.memory.words, Word.closing, 0, length);
    this.#wokenUp();
  }

  sleepWhileIdle(): void {
    this.#announce(MAX_SLEEP_MILLIS, true);
    Atomics.wait(this.memory.words, Word.idle, 1, MAX_SLEEP_MILLIS);
    this.#wokenUp();
  }

  async sleepInLoop(millis: number): Promise<void> {
    this.#announce(millis);
    if (millis < 1) {
      Atomics.wait(this.memory.words, Word.closing, 0, millis);
      await nextIteration();
    } else {
      await sleep(millis);
    }
    this.#wokenUp();
  }

  #announce(millis: number, untilWoken?: boolean): void {
    this.memory.sleep.values[Sleeping.ran] = this.schedstat.ran || 0;
    announceSleep(this.memory, this.now() + millis, untilWoken);
  }

  #wokenUp(): void {
    noteSuspension(this.memory, wakeUpIn(this.memory), this.now(), this.#account());
  }

  /** How long the thread ran, and waited for a CPU, since the last call. Under 2 µs. */
  #account(): number {
    const before = this.#accounted;
    const isKnown = this.schedstat.read();
    this.#accounted = isKnown ? this.schedstat.ran + this.schedstat.waited : Number.NaN;
    return this.#accounted - before;
  }
}
