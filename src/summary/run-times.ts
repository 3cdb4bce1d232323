/** When what is reported began, and when a server of this process listened for the first time. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { SystemClock } from '../support/clock.ts';
import { LISTEN_CHANNEL } from '../support/launches.ts';
import { nodeTiming } from '../support/time.ts';
import type { SummaryTimes } from './summary.ts';

/**
 * Has a summary written. A process that does not listen to it ignores it: safe to send to the wrong
 * one.
 */
export const SUMMARY_SIGNAL = 'SIGURG';

export class RunTimes {
  #startedAt: number | undefined;
  #listeningSince: number | undefined;

  /** Again after {@link stop}: the run goes on. */
  start(): void {
    this.#startedAt ??= unixTime();
    subscribe(LISTEN_CHANNEL, this.#onListening);
  }

  stop(): void {
    unsubscribe(LISTEN_CHANNEL, this.#onListening);
  }

  get startedAt(): number {
    return this.#startedAt ?? unixTime();
  }

  get listeningSince(): number | undefined {
    return this.#listeningSince;
  }

  /** @param thresholdMillis loading is mentioned from this long on */
  read(thresholdMillis: number): SummaryTimes {
    const { loopStart, bootstrapComplete } = nodeTiming;
    const loadMillis = loopStart - bootstrapComplete;
    return {
      startedAt: this.startedAt,
      now: unixTime(),
      listeningSince: this.#listeningSince,
      loadMillis: loopStart > 0 && loadMillis >= thresholdMillis ? loadMillis : undefined,
    };
  }

  readonly #onListening = (): void => {
    this.#listeningSince ??= unixTime();
  };
}

const clock = new SystemClock();

/** Milliseconds with a fraction, of the wall clock, as times of blocks are. */
export function unixTime(): number {
  clock.syncEpoch();
  return clock.epoch(clock.now());
}
