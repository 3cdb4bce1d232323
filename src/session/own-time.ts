/**
 * How much CPU time this package itself uses: `event_loop.own.duration`. On the main thread that is
 * what it does after blocks and in stack samples, without the time for which the thread had no CPU.
 */
import type { OwnStep, OwnThread } from '../report/instruments.ts';
import { ownTotals } from '../support/own-totals.ts';
import type { Schedstat } from '../support/schedstat.ts';
import { now } from '../support/time.ts';
import type { Budget } from './budget.ts';

/** Of a stack sample, what the inspector takes besides: connect, evaluate, disconnect. */
const MILLIS_AROUND_SAMPLE = 0.3;
const INTERVAL_MILLIS = 1000;
/** What takes longer is a hook, an exporter or a processor: that is no reason to name less. */
const MAX_SPENT_AT_ONCE_MILLIS = 5;

/** Where what was used is sent, and what was not done because of the budget. */
export interface OwnSink {
  own(millis: number, thread: OwnThread): void;
  skipped(count: number, step: OwnStep): void;
}

export class OwnTime {
  #main = 0;
  #skippedNames = 0;
  #isRunning = false;
  #waited = 0;
  #recordedAt = Number.NEGATIVE_INFINITY;
  /** For each thread of the package, how long it had run at the latest record. */
  readonly #threads = new Map<() => number, number>();

  /**
   * @param schedstat of this thread
   * @param takeSkipped how many stack samples were not taken since the last call
   * @param onSpent the budget has changed
   */
  constructor(
    private readonly schedstat: Pick<Schedstat, 'read' | 'waited'>,
    private readonly budget: Budget,
    private readonly takeSkipped: () => number = () => 0,
    private readonly onSpent: (budget: Budget) => void = () => {},
    private readonly intervalMillis = INTERVAL_MILLIS,
  ) {}

  /** @param ran for how many milliseconds a thread has run so far; NaN if that is not known */
  addThread(ran: () => number): void {
    this.#threads.set(ran, 0);
  }

  /** Counts `work`, of some 10 µs or more: it costs 8 µs. */
  readonly run = (work: () => void): void => {
    if (this.#isRunning) {
      work();
      return;
    }
    this.#isRunning = true;
    const start = this.now();
    try {
      work();
    } finally {
      this.#isRunning = false;
      this.#spend(this.now() - start);
    }
  };

  /** Milliseconds of a clock that stands still while the thread has no CPU. 2 µs. */
  now(): number {
    if (this.schedstat.read()) this.#waited = this.schedstat.waited;
    return now() - this.#waited;
  }

  /** A stack sample was taken; it began at `start`, of {@link now}. Called amid other code. */
  sampled(start: number): void {
    this.#spend(this.now() - start + MILLIS_AROUND_SAMPLE);
  }

  /** False if there is no budget for the name of a block, which counts then. */
  readonly mayName = (): boolean => {
    const { hasNames } = this.budget;
    if (!hasNames) this.#skippedNames++;
    return hasNames;
  };

  /** Call it on each beat. */
  record(sink: OwnSink): void {
    // V8 may have ended work half-way, without its `finally`.
    this.#isRunning = false;
    if (now() - this.#recordedAt < this.intervalMillis) return;
    this.#recordedAt = now();
    this.#spend(0);
    const [main, names] = [this.#main, this.#skippedNames];
    const samples = this.takeSkipped();
    this.#main = 0;
    this.#skippedNames = 0;
    ownTotals.mainMillis += main;
    ownTotals.skippedNames += names;
    ownTotals.skippedSamples += samples;
    if (main > 0) sink.own(main, 'main');
    if (names > 0) sink.skipped(names, 'name');
    if (samples > 0) sink.skipped(samples, 'sample');
    for (const [thread, before] of this.#threads) {
      const ran = thread() || 0;
      this.#threads.set(thread, ran);
      // Another thread may have taken its place.
      const millis = ran >= before ? ran - before : ran;
      ownTotals.watchdogMillis += millis;
      if (millis > 0) sink.own(millis, 'watchdog');
    }
  }

  #spend(millis: number): void {
    const spent = Math.max(0, millis);
    this.#main += spent;
    this.budget.spend(Math.min(spent, MAX_SPENT_AT_ONCE_MILLIS));
    this.onSpent(this.budget);
  }
}
