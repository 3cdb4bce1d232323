/**
 * One unref'd timer: samples the lag, and looks after what has to be looked after now and then. Never keeps the process
 * alive. Some 50 wake-ups a second at the default interval.
 */
import { clearInterval, setInterval } from 'node:timers';
import type { Clock } from '../clock.ts';
import type { IterationLedger } from './iteration-ledger.ts';
import { recordLag } from './lag.ts';

/** Timers count whole milliseconds, and may be one late although nothing held the loop. */
const TIMER_GRAIN_MILLIS = 2;

export interface HeartbeatOptions {
  intervalMillis: number;
  thresholdMillis: number;
  /** Whether async hooks feed the ledger. Without them the beats tell of blocks. */
  hooked: boolean;
  record: (lagMillis: number) => void;
  /** Called on every beat. */
  upkeep: () => void;
  onError: (error: unknown) => void;
}

export class Heartbeat {
  #timer: NodeJS.Timeout | undefined;
  #due = Number.NaN;
  #idle = Number.NaN;

  constructor(
    private readonly ledger: IterationLedger,
    private readonly clock: Clock,
    private readonly options: HeartbeatOptions,
  ) {}

  start(): void {
    if (this.#timer !== undefined) return;
    this.#due = Number.NaN;
    this.#timer = setInterval(() => {
      try {
        this.beat();
      } catch (error) {
        this.options.onError(error);
      }
    }, this.options.intervalMillis);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
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
    const lateness = t - this.#due;
    // The first beat has no due time. A timer may be some 1 ms early: Node.js counts whole milliseconds.
    if (!Number.isNaN(lateness)) {
      const waited = hooked ? ledger.waitedSince(this.#due) : this.#unhooked(lateness);
      // What the loop spent waiting after the due time is the timer's coarseness, or a stopped process: nobody else waited.
      recordLag(Math.max(0, lateness - Math.max(0, waited)), intervalMillis, record);
    } else if (!hooked) {
      this.#close(0);
    }
    this.#idle = clock.idle();
    // Node.js re-arms the timer when this callback has ended.
    this.options.upkeep();
    this.#due = clock.now() + intervalMillis;
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
