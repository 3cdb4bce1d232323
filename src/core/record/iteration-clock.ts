/**
 * Distinguishes the busy periods of the event loop. libuv counts the time that it waits for events,
 * so the busy time between two moments is known without polling.
 *
 * A *busy period* begins with a tick: the loop has waited at most once since the last one.
 */

import type { Clock } from '../../support/clock.ts';
import type { SharedMemory } from '../sample/shared-memory.ts';

/** A wait shorter than this does not matter to a stack sample. */
const MIN_WAIT_MILLIS = 0.25;

export class IterationClock {
  /** When the running busy period began: its name, too, which the watchdog thread asks by. */
  busyPeriodStart = Number.NaN;
  /** The loop was busy from this time on: later than its start if it began with a wait. */
  busySince = Number.NaN;
  /** Idle time of the loop when it began. */
  idleAtStart = Number.NaN;
  /** How long the latest wait was, when it ended, and when it was noted. */
  waited = 0;
  #waitEnd = Number.NaN;
  #notedAt = Number.NaN;
  #isOver = false;
  #isCounting = false;
  /** The loop's count when the first callback began; NaN before. */
  #startCount = Number.NaN;

  /** @param memory shared with the watchdog thread, if there is one */
  constructor(
    private readonly clock: Clock,
    private readonly memory: SharedMemory,
  ) {}

  /** False until the main script has ended: startup is not a block. */
  get isCounting(): boolean {
    return this.#isCounting;
  }

  /**
   * Hot. A tick at `t`, with the loop's idle time at `idle`. Returns for how long the loop has
   * waited since the last one. The caller is to call {@link open}.
   */
  tick(t: number, idle: number): number {
    this.waited = idle - this.idleAtStart;
    this.#waitEnd = this.busyPeriodStart + this.waited;
    this.#notedAt = t;
    this.#isOver = true;
    this.idleAtStart = idle;
    return this.waited;
  }

  /**
   * Whether the main script has ended, when a callback begins before the first tick. In a worker
   * thread, where `loopStart` may never be set, the loop has to have turned.
   */
  isStartupOver(): boolean {
    const loopCount = this.clock.loopCount();
    if (Number.isNaN(this.#startCount)) this.#startCount = loopCount;
    return this.clock.loopStarted() || loopCount !== this.#startCount;
  }

  /** A busy period begins at `t`. */
  open(t: number): void {
    this.#isCounting = true;
    this.busyPeriodStart = t;
    this.busySince = t;
    this.#isOver = false;
    this.memory.openBusyPeriod(t);
  }

  /** No further callback may come: takes the iteration as over. Returns for how long it waited. */
  end(): number {
    const idle = this.clock.idle();
    const waited = idle - this.idleAtStart;
    this.idleAtStart = idle;
    return waited;
  }

  /** The latest wait was longer than libuv has counted, by `millis`. */
  addLostWait(millis: number): void {
    this.waited += millis;
    this.#waitEnd = Math.min(this.#notedAt, this.#waitEnd + millis);
    this.clock.addLostWait(millis);
  }

  /**
   * Whether the loop waited for events at `time`, a moment ago; asked before any further wait.
   * Undefined if that is not known.
   */
  wasWaitingAt(time: number): boolean | undefined {
    if (!this.#isCounting) return true;
    if (time < this.busyPeriodStart)
      return time >= this.#waitEnd - this.waited && time < this.#waitEnd;
    if (!this.mayWait()) return false;
    return time < this.busyPeriodStart + this.waitedSoFar() ? true : undefined;
  }

  /**
   * Whether the loop may be waiting for events now: Node.js runs some code with no callback around
   * it (`Atomics.waitAsync`, and with it `import()` if a thread of its own hooks modules).
   */
  mayWait(): boolean {
    return !(this.waitedSoFar() < MIN_WAIT_MILLIS);
  }

  /** Whether the busy period has ended, and the next has not begun. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Milliseconds that the loop waited since the busy period was opened. */
  waitedSoFar(): number {
    return this.clock.idle() - this.idleAtStart;
  }

  /** How long the latest wait went on after `due`. */
  waitedAfter(due: number): number {
    return Math.max(0, Math.min(this.waited, this.#waitEnd - due)) || 0;
  }

  reset(): void {
    this.#isCounting = false;
    this.#isOver = false;
    this.#waitEnd = Number.NaN;
    this.waited = 0;
    this.busyPeriodStart = Number.NaN;
    this.busySince = Number.NaN;
    this.memory.closeBusyPeriod();
  }
}
