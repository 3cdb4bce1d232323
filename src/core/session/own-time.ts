/**
 * How much CPU time this package itself uses, `event_loop.own.duration`, and the budgets for that:
 * of the main thread at most 20 ms in any ten seconds, or 2 % of the CPU time of the process, with
 * thresholds of 30 ms and more. Where they get short, stack samples are fewer, and blocks have no
 * names. What is left of it is for the reports: each block has one.
 */

import { ownTotals } from '../../support/own-totals.ts';
import type { Schedstat } from '../../support/schedstat.ts';
import { now } from '../../support/time.ts';
import type { OwnStep, OwnThread } from '../emit/instruments.ts';
import { Allowed } from '../sample/shared-memory.ts';
import { Budget, type Used } from './budget.ts';

/** Of a stack sample, what the inspector takes besides: connect, evaluate, disconnect. */
const MILLIS_AROUND_SAMPLE = 0.3;
/**
 * A sample, or a step of a name, that took longer had no CPU: a quota and other virtual machines
 * are no run delay.
 */
const MAX_STEP_MILLIS = 2;
const INTERVAL_MILLIS = 1000;

const SAMPLES = { share: 0.012, millis: 12 };
const NAMES = { share: 0.006, millis: 12 };
/** Parts of their budget from which on samples are fewer. */
const FEW_SAMPLES = 0.9;
/** From here on there are none. The first one of a block tells its trace: 0.45 ms each. */
const NO_SAMPLES = 1.7;

/** Where what was used is sent, and what was left out because of the budget. */
export interface OwnSink {
  own(millis: number, thread: OwnThread): void;
  skipped(count: number, step: OwnStep): void;
}

/** The thread that asks for stack samples. */
export interface Sampler {
  /** @param samples an `Allowed` */
  allow(samples: number): void;
  /** How many samples it has left out since the last call. */
  takeSkipped(): number;
}

export class OwnTime {
  readonly #samples: Budget;
  readonly #names: Budget;
  #main = 0;
  #skippedNames = 0;
  #isRunning = false;
  #waited = 0;
  #recordedAt = Number.NEGATIVE_INFINITY;
  /** For each thread of the package, how long it had run at the latest record. */
  readonly #threads = new Map<() => number, number>();

  /**
   * @param schedstat of this thread
   * @param usedSoFar by the process and the thread
   */
  constructor(
    private readonly schedstat: Pick<Schedstat, 'read' | 'waited'>,
    usedSoFar: () => Used,
    private readonly sampler?: Sampler,
    private readonly intervalMillis = INTERVAL_MILLIS,
  ) {
    this.#samples = new Budget(SAMPLES, usedSoFar);
    this.#names = new Budget(NAMES, usedSoFar);
  }

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
    const start = this.now();
    try {
      work();
    } finally {
      this.#isRunning = false;
      this.#main += Math.max(0, this.now() - start);
    }
  };

  /** Milliseconds of a clock that stands still while the thread has no CPU. 2 µs. */
  now(): number {
    if (this.schedstat.read()) this.#waited = this.schedstat.waited;
    return now() - this.#waited;
  }

  /**
   * A stack sample was taken; it began at `start`. Called amid other code, maybe with hardly any
   * stack left.
   */
  sampled(start: number): void {
    const millis = clamp(now() - start) + MILLIS_AROUND_SAMPLE;
    this.#main += millis;
    this.#samples.spend(millis);
    this.#allowSamples();
  }

  /** Runs, within {@link run}, what the name of a block takes. */
  readonly name = <T>(work: () => T): T => {
    const start = this.now();
    try {
      return work();
    } finally {
      this.#names.spend(clamp(this.now() - start));
    }
  };

  /** False if there is no budget for the name of a block. Counts that. */
  readonly mayName = (): boolean => {
    const isAllowed = this.#names.used < 1;
    if (!isAllowed) this.#skippedNames++;
    return isAllowed;
  };

  /** Call it on each beat, and at the end. */
  record(sink: OwnSink, isLast = false): void {
    // V8 may have ended work half-way, without its `finally`.
    this.#isRunning = false;
    if (!isLast && now() - this.#recordedAt < this.intervalMillis) return;
    this.#recordedAt = now();
    this.#samples.spend(0);
    this.#names.spend(0);
    this.#allowSamples();
    const [main, names] = [this.#main, this.#skippedNames];
    const samples = this.sampler?.takeSkipped() ?? 0;
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

  #allowSamples(): void {
    const { used } = this.#samples;
    this.sampler?.allow(
      used < FEW_SAMPLES ? Allowed.all : used < NO_SAMPLES ? Allowed.few : Allowed.none,
    );
  }
}

const clamp = (millis: number) => Math.max(0, Math.min(millis, MAX_STEP_MILLIS));
