/**
 * How the main thread's watchdog thread sleeps: it writes down until when, so that a suspension
 * shows.
 */
import { setTimeout as sleepFor } from 'node:timers/promises';
import { Schedstat } from '../support/schedstat.ts';
import { Flag, Mark, type SharedMemory } from './shared-memory.ts';
import { noteSuspension } from './suspension-marks.ts';

/** The thread has to notice when it is to end. */
export const MAX_SLEEP_MILLIS = 500;
export const MIN_SLEEP_MILLIS = 0.5;

/** Of one watched thread. */
export interface Sleep {
  /** Ends early when the watched thread says that it closes. */
  sleep(millis: number): void | Promise<void>;
  /** Until the watched thread says that something runs, or for long. */
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
    const length = Math.min(MAX_SLEEP_MILLIS, Math.max(MIN_SLEEP_MILLIS, millis));
    const due = this.#announce(length);
    Atomics.wait(this.memory.flags, Flag.closing, 0, length);
    this.#wokenUp(due);
  }

  sleepWhileIdle(): void {
    const due = this.#announce(MAX_SLEEP_MILLIS);
    Atomics.wait(this.memory.flags, Flag.idle, 1, MAX_SLEEP_MILLIS);
    // The main thread sets it when it ends the sleep.
    this.#wokenUp(Math.min(due, this.memory.marks[Mark.wakeUp] as number));
  }

  async sleepInLoop(millis: number): Promise<void> {
    const due = this.#announce(millis);
    await sleepFor(millis);
    this.#wokenUp(due);
  }

  #announce(millis: number): number {
    const due = this.now() + millis;
    this.memory.marks[Mark.wakeUp] = due;
    return due;
  }

  #wokenUp(due: number): void {
    const wokenAt = this.now();
    noteSuspension(this.memory.marks, due, wokenAt, this.#account());
  }

  /** How long the thread ran, and waited for a CPU, since the last call. Under 2 µs. */
  #account(): number {
    const before = this.#accounted;
    const isKnown = this.schedstat.read();
    this.#accounted = isKnown ? this.schedstat.ran + this.schedstat.waited : Number.NaN;
    return this.#accounted - before;
  }
}
