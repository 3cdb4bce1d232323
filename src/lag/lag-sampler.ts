/**
 * One unref'd timer: samples the lag, and looks after what has to be looked after now and then. Never keeps the process
 * alive. Some 50 wake-ups a second at the default interval, and 5 while the loop rests.
 */
import { AsyncResource } from 'node:async_hooks';
import * as timers from 'node:timers';
import type { IterationLedger } from '../loop/ledger.ts';
import type { Clock } from '../support/clock.ts';
import { recordLag } from './coordinated-omission.ts';

// Taken once: fake timers of a test may replace them later, also in the module.
const { clearTimeout, setTimeout } = timers;

/** Timers count whole milliseconds, and may be one late although nothing held the loop. */
const TIMER_GRAIN_MILLIS = 2;

/** The loop rests when it was busy for less than this share of each of so many intervals in a row. */
const QUIET_SHARE = 0.025;
const QUIET_BEATS = 10;
/** How far apart beats are, at most, while it rests. */
const REST_MILLIS = 200;

export interface HeartbeatOptions {
  intervalMillis: number;
  thresholdMillis: number;
  /** Whether async hooks feed the ledger. Without them the beats tell of blocks. */
  hooked: boolean;
  /** Whether beats may become rarer while the loop rests. Takes hooks, which call {@link Heartbeat.wake}. */
  canRest: boolean;
  record: (lagMillis: number) => void;
  /** Called on every beat. */
  upkeep: () => void;
  /** The loop rests from now on, or does not any more: `runsSince` is when something began to run. */
  rest: () => void;
  wake: (runsSince: number) => void;
  onError: (error: unknown) => void;
}

export class Heartbeat {
  /** Whether {@link wake} is to be called when something runs. */
  resting = false;
  /** A timer knows the context it was made in: this is that of the first one. */
  #scope: AsyncResource | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerMillis = 0;
  #due = Number.NaN;
  /** The latest beat, and the loop's idle time then. */
  #at = Number.NaN;
  #idle = Number.NaN;
  #quietBeats = 0;
  /** When the latest interval began. */
  #from = Number.NaN;
  /** Intervals that passed while the loop rested, in which an arrival would not have waited. */
  #restful = 0;
  /** Intervals from one beat to the next while it rests; 1 where it never does. */
  readonly #restIntervals: number;

  constructor(
    private readonly ledger: IterationLedger,
    private readonly clock: Clock,
    private readonly options: HeartbeatOptions,
  ) {
    this.#restIntervals = options.canRest ? Math.max(1, Math.floor(REST_MILLIS / options.intervalMillis)) : 1;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#due = Number.NaN;
    this.#at = Number.NaN;
    this.#quietBeats = 0;
    this.#restful = 0;
    this.#scope = new AsyncResource('EventLoopHeartbeat');
    this.#arm(this.options.intervalMillis);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#scope = undefined;
    this.resting = false;
  }

  /** Milliseconds since the next beat was due; 0 where it is not yet. */
  overdue(): number {
    return Math.max(0, this.clock.now() - this.#due) || 0;
  }

  /** One beat of the timer; public for tests. */
  beat(): void {
    const { ledger, clock } = this;
    const { intervalMillis, hooked, record } = this.options;
    if (hooked) ledger.resync();
    const t = hooked && ledger.callbackStart > 0 ? ledger.callbackStart : clock.now();
    const due = this.#due;
    const lateness = t - due;
    // Not known again before this beat has ended well.
    this.#due = Number.NaN;
    // The first beat has no due time. A timer may be some 1 ms early: Node.js counts whole milliseconds.
    if (!Number.isNaN(lateness)) {
      const waited = hooked ? ledger.waitedSince(due) : this.#unhooked(lateness);
      const restful = this.#restful + (this.resting ? this.#restIntervals - 1 : 0);
      // First: a meter that throws is not owed them.
      this.#restful = 0;
      for (let i = 0; i < restful; i++) record(0);
      // What the loop spent waiting after the due time is the timer's coarseness, or a stopped process: nobody else waited.
      recordLag(Math.max(0, lateness - Math.max(0, waited)), intervalMillis, record);
    } else if (!hooked) {
      this.#close(0);
    }
    const idle = clock.idle();
    const elapsed = t - this.#at;
    const isQuiet = elapsed - (idle - this.#idle) < elapsed * QUIET_SHARE;
    this.#at = t;
    this.#idle = idle;
    this.options.upkeep();
    this.#quietBeats = isQuiet ? this.#quietBeats + 1 : 0;
    this.#restIf(this.#restIntervals > 1 && this.#quietBeats >= QUIET_BEATS);
    // Node.js re-arms the timer when this callback has ended.
    this.#from = clock.now();
    this.#due = this.#from + this.#untilNext();
  }

  /**
   * Something runs while the loop was taken to rest; to be called in the `before` of its `resource`. The next beat comes when it would have
   * come without the rest, so that what runs is seen as any other time. Some 7 µs, median, on Node 24.
   */
  wake(resource: object): void {
    // The beat itself.
    if (resource === this.#timer) return;
    const { intervalMillis, wake } = this.options;
    const t = this.clock.now();
    const passed = Math.max(0, Math.floor((t - this.#from) / intervalMillis));
    this.resting = false;
    this.#quietBeats = 0;
    // More only where the process was stopped.
    this.#restful += Math.min(passed, this.#restIntervals);
    this.#from += passed * intervalMillis;
    this.#due = this.#from + intervalMillis;
    // Not in the context of what runs, which the timer would keep alive.
    this.#scope?.runInAsyncScope(() => this.#arm(Math.max(1, Math.ceil(this.#due - t))));
    wake(this.ledger.callbackStart);
  }

  #restIf(resting: boolean): void {
    if (resting === this.resting) return;
    this.resting = resting;
    if (resting) this.options.rest();
    else this.options.wake(this.#at);
  }

  readonly #onTimer = (): void => {
    try {
      this.beat();
    } catch (error) {
      this.options.onError(error);
    }
    // A beat may have stopped it.
    if (this.#timer !== undefined) this.#arm(this.#untilNext());
  };

  #untilNext(): number {
    return (this.resting ? this.#restIntervals : 1) * this.options.intervalMillis;
  }

  #arm(millis: number): void {
    if (this.#timer !== undefined && millis === this.#timerMillis) {
      this.#timer.refresh();
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onTimer, millis).unref();
    this.#timerMillis = millis;
  }

  /** Without hooks: was there a block since the last beat? Returns what the loop surely waited after the due time. */
  #unhooked(lateness: number): number {
    const { intervalMillis, thresholdMillis } = this.options;
    const idle = this.clock.idle() - this.#idle;
    const busy = lateness + intervalMillis - idle;
    // A block began at some time in the interval before it was due: `busy` is its length or up to an interval more.
    const isBlock = busy >= thresholdMillis && lateness + intervalMillis / 2 >= thresholdMillis;
    this.#close(isBlock ? busy : 0);
    return Math.max(0, idle - intervalMillis);
  }

  /** Nobody has held the loop for long before the next beat is due: until then a vote would be of no use, and cost. */
  #close(length: number): void {
    this.ledger.closeUnseen(length, this.options.intervalMillis + TIMER_GRAIN_MILLIS);
  }
}
