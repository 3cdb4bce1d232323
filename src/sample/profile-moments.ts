/**
 * The random moments at which the loop profile has what runs sampled. Promises: they come at
 * intervals that are distributed exponentially, whatever the loop does, so that each piece of the
 * loop's time has the same chance; a moment at which the loop waits for events does not wake it.
 *
 * A moment in which the main thread does not answer, since native code runs, is paused until the
 * answer: the main thread counts the time until then for that code, and moments go on afterwards.
 * Watchdog thread only.
 */
import type { SampleProfile } from './capture-session.ts';
import type { MainThreadState } from './main-thread-state.ts';
import type { ProfileOptions } from './protocol.ts';
import { RecentUtilization } from './recent-utilization.ts';
import { Mark } from './shared-memory.ts';

/** From this share of the time on the loop is busy. */
export const MIN_UTILIZATION = 0.5;
/** A moment that is later than this was in a suspension of the process: nothing ran. */
const MAX_LATE_MILLIS = 20;
/** After so much time without a moment, the first ones come at the short interval again. */
const RENEWAL_MILLIS = 10 * 60_000;

export interface ProfileParts {
  readonly options: ProfileOptions;
  readonly marks: Float64Array;
  now(): number;
  sample: SampleProfile;
  /** From 0 to 1, 1 excluded. */
  readonly random?: () => number;
  readonly state: Pick<MainThreadState, 'isWaiting' | 'learn'>;
}

export class ProfileMoments {
  readonly #utilization: RecentUtilization;
  readonly #state: Pick<MainThreadState, 'isWaiting' | 'learn'>;
  readonly #random: () => number;
  #firstLeft: number;
  #latest = Number.NEGATIVE_INFINITY;
  #due: number;

  constructor(private readonly parts: ProfileParts) {
    this.#utilization = new RecentUtilization(parts.marks);
    this.#state = parts.state;
    this.#random = parts.random ?? Math.random;
    this.#firstLeft = parts.options.firstMoments;
    this.#due = this.#draw(parts.now());
  }

  /** Milliseconds until the next moment. */
  get untilDue(): number {
    return this.#due - this.parts.now();
  }

  /** To be called now and then. */
  note(): void {
    this.#utilization.note();
  }

  /** The watchdog thread slept: a moment that has passed is left out. */
  skip(): void {
    const now = this.parts.now();
    if (this.#due <= now) this.#due = this.#draw(now);
  }

  /** A stack sample of a block was awaited: moments in between are counted with that. */
  goOnAfterAnswer(): void {
    const { marks } = this.parts;
    const answeredAt = marks[Mark.captureAnsweredAt] as number;
    const isIn = this.#due > (marks[Mark.captureRequestedAt] as number) && this.#due <= answeredAt;
    if (isIn) this.#due = this.#draw(answeredAt);
  }

  /** Has what runs sampled, where it is time to; calls `onWaiting` while that is under way. */
  async sampleIfDue(onWaiting: () => void): Promise<void> {
    const { parts } = this;
    const now = parts.now();
    const late = now - this.#due;
    if (late < 0) return;
    const isWanted = this.#isWanted(now);
    const interval = isWanted ? this.#interval() : 0;
    this.parts.marks[Mark.profileInterval] = interval;
    // Unwanted ones would only wake this thread: they need not be close.
    this.#due = this.#draw(now, isWanted ? interval : parts.options.intervalMillis);
    if (!isWanted || late > MAX_LATE_MILLIS) return;
    if (now - this.#latest > RENEWAL_MILLIS) this.#firstLeft = parts.options.firstMoments;
    this.#latest = now;
    if (this.#firstLeft > 0) this.#firstLeft--;
    if (this.#state.isWaiting()) return;
    const reply = await parts.sample(onWaiting);
    if (reply?.isIdle === true) this.#state.learn();
    this.#due = this.#draw(
      reply === undefined ? parts.now() : (parts.marks[Mark.captureAnsweredAt] as number),
    );
  }

  #isWanted(now: number): boolean {
    return this.parts.options.isAlways || this.#utilization.read(now) >= MIN_UTILIZATION;
  }

  #interval(): number {
    const { firstIntervalMillis, intervalMillis } = this.parts.options;
    return this.#firstLeft > 0 ? firstIntervalMillis : intervalMillis;
  }

  #draw(from: number, interval = this.#interval()): number {
    return from - Math.log(1 - this.#random()) * interval;
  }
}
