/**
 * How much CPU time this package itself uses: `event_loop.own.duration`. On the main thread that is
 * what it does after blocks and in stack samples, without the time for which the thread had no CPU.
 */
import type { Instruments, OwnThread } from '../report/instruments.ts';
import type { Schedstat } from '../support/schedstat.ts';
import { now } from '../support/time.ts';

/** Of a stack sample, what the inspector takes besides: connect, evaluate, disconnect. */
const MILLIS_AROUND_SAMPLE = 0.3;
const INTERVAL_MILLIS = 1000;

export class OwnTime {
  #main = 0;
  #isRunning = false;
  #recordedAt = Number.NEGATIVE_INFINITY;
  /** For each thread of the package, how long it had run at the latest record. */
  readonly #threads = new Map<() => number, number>();

  /** @param schedstat of this thread */
  constructor(
    private readonly schedstat: Pick<Schedstat, 'read' | 'waited'>,
    private readonly intervalMillis = INTERVAL_MILLIS,
  ) {}

  /** @param ran for how many milliseconds a thread has run so far; NaN if that is not known */
  addThread(ran: () => number): void {
    this.#threads.set(ran, 0);
  }

  /** Counts `work`, of some 10 µs or more: it costs 4 µs. */
  readonly run = (work: () => void): void => {
    if (this.#isRunning) {
      work();
      return;
    }
    this.#isRunning = true;
    const [start, waitedBefore] = [now(), this.#waited()];
    try {
      work();
    } finally {
      this.#isRunning = false;
      this.#main += Math.max(0, now() - start - (this.#waited() - waitedBefore));
    }
  };

  /** A stack sample was taken; it began at `start`. Called in the middle of other code. */
  sampled(start: number): void {
    this.#main += now() - start + MILLIS_AROUND_SAMPLE;
  }

  /** Call it on each beat. */
  record(instruments: () => Instruments): void {
    // V8 may have ended work half-way, without its `finally`.
    this.#isRunning = false;
    if (now() - this.#recordedAt < this.intervalMillis) return;
    this.#recordedAt = now();
    this.#add(instruments, 'main', this.#main);
    this.#main = 0;
    for (const [thread, before] of this.#threads) {
      const ran = thread() || 0;
      this.#threads.set(thread, ran);
      // Another thread may have taken its place.
      this.#add(instruments, 'watchdog', ran >= before ? ran - before : ran);
    }
  }

  #add(instruments: () => Instruments, thread: OwnThread, millis: number): void {
    if (millis > 0) instruments().own(millis, thread);
  }

  #waited(): number {
    return this.schedstat.read() ? this.schedstat.waited : 0;
  }
}
