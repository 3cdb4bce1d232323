/**
 * Distinguishes the busy periods of the event loop. libuv counts iterations and the time that it
 * waits for events, so the busy time between two moments is known without polling.
 *
 * A *busy period* begins at a boundary. With hooks, that is the first callback of an iteration, and
 * the period lasts until the loop waits or turns: an iteration waits at most once. Without hooks, a
 * boundary is a tick: the loop has waited at most once since the last one, soon after it.
 */

import type { SharedMemory } from '../sample/shared-memory.ts';
import type { Clock } from '../support/clock.ts';

/** What {@link IterationClock.advance} says of a callback that begins. */
export type Turn = typeof STARTUP | typeof SAME | typeof FIRST | typeof NEXT | typeof RESTART;
/** The main script has not ended yet: nothing is accounted for. */
export const STARTUP = 0;
/** The busy period goes on. */
export const SAME = 1;
/** The first busy period begins. */
export const FIRST = 2;
/**
 * The busy period has ended, {@link IterationClock.waited} milliseconds ago: the next one begins.
 */
export const NEXT = 3;
/** As NEXT, so soon after a beginning that nothing before can be part of a block. */
export const RESTART = 4;

/**
 * Within this many milliseconds of a beginning the loop count is not read again: an iteration that
 * short is taken together with the next callback. Reading is a third of what it takes.
 */
export const MIN_ITERATION_MILLIS = 0.02;

/**
 * An iteration that begins within this many milliseconds of one that was opened takes over what
 * that one has noted, instead of opening anew.
 */
export const ITERATION_GRAIN_MILLIS = 0.25;

export class IterationClock {
  /** When the running busy period began: its name, too, which the watchdog thread asks by. */
  busyPeriodStart = Number.NaN;
  /** From when on the loop was busy in it: later, if it began with a wait. */
  busySince = Number.NaN;
  /** Idle time of the loop when it began. */
  idleAtStart = Number.NaN;
  /** How long the latest wait was, when it ended, and when it was noted. */
  waited = 0;
  #waitEnd = Number.NaN;
  #notedAt = Number.NaN;
  /** Whether the loop waited after what ran until then. */
  #isOver = false;
  #loopCount = -1;
  #openedAt = Number.NaN;
  #isCounting = false;

  /** @param memory shared with the watchdog thread, if there is one */
  constructor(
    private readonly clock: Clock,
    private readonly memory: SharedMemory,
  ) {}

  /** False until the main script has ended. */
  get isCounting(): boolean {
    return this.#isCounting;
  }

  /** Hot. Whether `t` is so early in the busy period that the loop is not asked. */
  hasJustBegun(t: number): boolean {
    return t - this.busyPeriodStart < MIN_ITERATION_MILLIS;
  }

  /**
   * With hooks. A callback begins at `t`: has the loop turned, or waited, since the busy period
   * began? After FIRST and NEXT the caller is to call {@link open}. Some 60 ns, 20 on Node.js 26.
   * @param lastRead when the clock was read before
   * @param isLong what ran before may be a block with a wait inside, without a hook
   */
  advance(t: number, lastRead: number, isLong: boolean): Turn {
    if (this.hasJustBegun(t)) return SAME;
    const loopCount = this.clock.loopCount();
    const isSame = loopCount === this.#loopCount;
    if (t - this.#openedAt < ITERATION_GRAIN_MILLIS) {
      if (isSame) return SAME;
      this.#note(t, loopCount, this.clock.idle());
      this.#begin(t);
      return RESTART;
    }
    // A wait shows as a gap between callbacks, or as a long task if a reaction filled the gap.
    if (isSame && t - lastRead < ITERATION_GRAIN_MILLIS && !isLong && this.#isCounting) return SAME;
    if (!this.#isCounting) return this.#startUp(t, loopCount, isSame);
    const idle = this.clock.idle();
    if (isSame && idle <= this.idleAtStart) return SAME;
    this.#note(t, loopCount, idle);
    return NEXT;
  }

  /**
   * Hot. Without hooks: a boundary at `t`, with the loop's idle time at `idle`. Returns for how
   * long the loop has waited since the last one. The caller is to call {@link open}.
   */
  cut(t: number, idle: number): number {
    this.waited = idle - this.idleAtStart;
    this.#waitEnd = this.busyPeriodStart + this.waited;
    this.#notedAt = t;
    this.#isOver = false;
    this.idleAtStart = idle;
    return this.waited;
  }

  /** A busy period begins at `t`. */
  open(t: number): void {
    this.#isCounting = true;
    this.#openedAt = t;
    this.#begin(t);
  }

  /**
   * Hooks are armed, in the middle of what runs: from here on iterations are told by the loop
   * count. What the loop has waited since the boundary was before that.
   */
  arm(busySince: number): void {
    this.busySince = busySince;
    this.#loopCount = this.clock.loopCount();
    this.idleAtStart = this.clock.idle();
  }

  /** No further callback may come: takes the iteration as over. Returns for how long it waited. */
  end(): number {
    const idle = this.clock.idle();
    const waited = idle - this.idleAtStart;
    this.#loopCount = this.clock.loopCount();
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
  wasWaitingAt(time: number, isHooked: boolean): boolean | undefined {
    if (!this.#isCounting) return true;
    if (time < this.busyPeriodStart)
      return time >= this.#waitEnd - this.waited && time < this.#waitEnd;
    const waited = this.waitedSoFar();
    if (waited < MIN_ITERATION_MILLIS) return false;
    if (isHooked) return time >= this.clock.now() - waited;
    return time < this.busyPeriodStart + waited ? true : undefined;
  }

  /**
   * Milliseconds that the loop has waited since the busy period ended; undefined while that runs.
   */
  get waitedSinceEnd(): number | undefined {
    return this.#isOver ? this.waited : undefined;
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
    this.#openedAt = Number.NaN;
    this.#isOver = false;
    this.#waitEnd = Number.NaN;
    this.waited = 0;
    this.busyPeriodStart = Number.NaN;
    this.busySince = Number.NaN;
    this.memory.closeBusyPeriod();
  }

  /**
   * Startup is not a block. It ends with the first callback after the main script; in a worker
   * thread, where `loopStart` may never be set, with the second iteration.
   */
  #startUp(t: number, loopCount: number, isSame: boolean): Turn {
    if (!this.clock.loopStarted() && (this.#loopCount === -1 || isSame)) {
      this.#loopCount = loopCount;
      this.busyPeriodStart = t;
      return STARTUP;
    }
    this.#note(t, loopCount, this.clock.idle());
    return FIRST;
  }

  #note(t: number, loopCount: number, idle: number): void {
    this.waited = idle - this.idleAtStart;
    this.#waitEnd = t;
    this.#notedAt = t;
    this.#isOver = true;
    this.#loopCount = loopCount;
    this.idleAtStart = idle;
  }

  #begin(t: number): void {
    this.busyPeriodStart = t;
    this.busySince = t;
    this.#isOver = false;
    this.memory.openBusyPeriod(t);
  }
}
