/** When what is reported began, and when a server of this process listened for the first time. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { SystemClock } from '../../support/clock.ts';
import { LISTEN_CHANNEL } from '../../support/launches.ts';
import { Schedstat } from '../../support/schedstat.ts';
import { nodeTiming, now } from '../../support/time.ts';
import type { SummaryTimes } from './summary.ts';

/**
 * Has a summary written. A process that does not listen to it ignores it: safe to send to the wrong
 * one.
 */
export const SUMMARY_SIGNAL = 'SIGURG';

/** The wall clock is read to about a millisecond; a smaller step makes no difference to anybody. */
const MIN_STEP_MILLIS = 50;

/**
 * All times are those of the wall clock at the start of the run, and of the monotonic clock since:
 * the wall clock may be stepped by hours.
 */
export class RunTimes {
  readonly #clock = new SystemClock();
  /** Unix time of the monotonic clock's 0. */
  readonly #zero = this.#clock.epoch(0);
  /** By how much the wall clock has been stepped since. */
  #drift = 0;
  #startedAt: number | undefined;
  #listeningSince: number | undefined;
  #runDelayAtStart: number | undefined;

  /** Again after {@link stop}: the run goes on. */
  start(): void {
    this.#startedAt ??= this.now;
    this.#runDelayAtStart ??= runDelay();
    subscribe(LISTEN_CHANNEL, this.#onListening);
  }

  stop(): void {
    unsubscribe(LISTEN_CHANNEL, this.#onListening);
  }

  /** Milliseconds with a fraction, as those of {@link of}. */
  get now(): number {
    return this.#zero + now();
  }

  get startedAt(): number {
    return this.#startedAt ?? this.now;
  }

  get listeningSince(): number | undefined {
    return this.#listeningSince;
  }

  /** Of what a session of this thread has just told, by its clock as that is set now. */
  of<Told extends { readonly startTimeMillis: number }>(told: Told): Told {
    const drift = this.#clock.epoch(0) - this.#zero;
    if (Math.abs(drift - this.#drift) >= MIN_STEP_MILLIS) this.#drift = drift;
    if (this.#drift === 0) return told;
    return { ...told, startTimeMillis: told.startTimeMillis - this.#drift };
  }

  /** @param thresholdMillis loading is mentioned from this long on */
  read(thresholdMillis: number): SummaryTimes {
    const { loopStart, bootstrapComplete } = nodeTiming;
    const loadMillis = loopStart - bootstrapComplete;
    const delay = runDelay() - (this.#runDelayAtStart ?? Number.NaN);
    return {
      startedAt: this.startedAt,
      now: this.now,
      listeningSince: this.#listeningSince,
      runDelayMillis: delay >= 0 ? delay : undefined,
      loadMillis: loopStart > 0 && loadMillis >= thresholdMillis ? loadMillis : undefined,
    };
  }

  readonly #onListening = (): void => {
    this.#listeningSince ??= this.now;
  };
}

/** Milliseconds for which this thread has waited for a CPU so far; NaN if that is not known. */
function runDelay(): number {
  const schedstat = new Schedstat();
  schedstat.start();
  const isKnown = schedstat.read();
  schedstat.stop();
  return isKnown ? schedstat.waited : Number.NaN;
}
