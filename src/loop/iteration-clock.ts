/**
 * Distinguishes the iterations of the event loop. libuv counts iterations and the time that it
 * waits for events, so the busy time of an iteration is exact without polling.
 *
 * A *busy period* is the time of one iteration in which the loop does not wait. An iteration waits
 * at most once.
 */
import type { Clock } from '../support/clock.ts';
import { Mark } from '../watchdog/shared-memory.ts';

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
  /** When the running busy period began. */
  busyPeriodStart = Number.NaN;
  /** Idle time of the loop when it began. */
  idleAtStart = Number.NaN;
  /** For how long the loop waited before the latest callback that began a busy period, and when. */
  waited = Number.NaN;
  #waitedAt = Number.NaN;
  #loopCount = -1;
  #openedAt = Number.NaN;
  #isCounting = false;
  #isRelaxed = false;

  /** @param marks shared with the watchdog thread, where there is one */
  constructor(
    private readonly clock: Clock,
    private readonly marks: Float64Array,
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
   * Hot. A callback begins at `t`: has the loop turned, or waited, since the busy period began?
   * After FIRST and NEXT the caller is to call {@link open}. Some 60 ns, 20 on Node.js 26.
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
    // A wait shows as a gap between callbacks, or as a long task where a reaction filled the gap.
    if (isSame && t - lastRead < ITERATION_GRAIN_MILLIS && !isLong && this.#isCounting) return SAME;
    if (!this.#isCounting) return this.#startUp(t, loopCount, isSame);
    const idle = this.clock.idle();
    if (isSame && idle <= this.idleAtStart) return SAME;
    this.#note(t, loopCount, idle);
    return NEXT;
  }

  /** A busy period begins at `t`. */
  open(t: number): void {
    this.#isCounting = true;
    this.#openedAt = t;
    // Blocks were made since: it is still the wait before this callback.
    if (this.#waitedAt > this.busyPeriodStart) this.#waitedAt = t;
    this.#begin(t);
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
    this.clock.addLostWait(millis);
  }

  /** Whether the loop waited for events at `time`, a moment ago; asked before any further wait. */
  wasWaitingAt(time: number): boolean {
    if (!this.#isCounting) return true;
    if (time < this.busyPeriodStart) return time >= this.busyPeriodStart - this.waited;
    const waited = this.waitedSoFar();
    return waited >= MIN_ITERATION_MILLIS && time >= this.clock.now() - waited;
  }

  /**
   * Milliseconds that the loop has waited since the busy period ended; undefined while that runs.
   */
  get waitedSinceEnd(): number | undefined {
    return this.#waitedAt > this.busyPeriodStart ? this.waited : undefined;
  }

  /** From now on the watchdog thread marks busy periods that have grown old, or does not. */
  relax(relaxed: boolean): void {
    this.#isRelaxed = relaxed;
  }

  /**
   * Hot. Saves clock reads: what the watchdog thread did not mark as old cannot have been long.
   * Where that thread had no CPU it may have been: the beginning of the next callback shows that.
   */
  isSurelyShort(): boolean {
    return this.#isRelaxed && this.marks[Mark.markedBusyPeriod] !== this.busyPeriodStart;
  }

  /** Milliseconds that the loop waited since the busy period was opened. */
  waitedSoFar(): number {
    return this.clock.idle() - this.idleAtStart;
  }

  /**
   * How much of the time from `due` until the callback that began at `callbackStart` the loop
   * waited.
   */
  waitedBefore(callbackStart: number, due: number): number {
    return this.#waitedAt === callbackStart ? Math.min(this.waited, callbackStart - due) : 0;
  }

  reset(): void {
    this.#isCounting = false;
    this.#openedAt = Number.NaN;
    this.#waitedAt = Number.NaN;
    this.busyPeriodStart = Number.NaN;
    this.marks[Mark.busyPeriodStart] = 0;
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
    this.#waitedAt = t;
    this.#loopCount = loopCount;
    this.idleAtStart = idle;
  }

  #begin(t: number): void {
    this.busyPeriodStart = t;
    this.marks[Mark.busyPeriodStart] = t;
  }
}
