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
  /** Whether the loop waited after what ran until then. */
  #isOver = false;
  #loopCount = -1;
  #isCounting = false;

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
   * Whether the loop has turned, or waited, since the busy period began, when a callback begins at
   * `t` with hooks on. The caller then calls {@link open}. Some 100 ns, 50 on Node.js 26.
   */
  advance(t: number): boolean {
    const loopCount = this.clock.loopCount();
    const idle = this.clock.idle();
    const isSame = loopCount === this.#loopCount;
    if (this.#isCounting ? isSame && idle <= this.idleAtStart : this.#isStartup(isSame)) {
      this.#loopCount = loopCount;
      return false;
    }
    this.waited = idle - this.idleAtStart;
    this.#waitEnd = t;
    this.#notedAt = t;
    this.#isOver = true;
    this.#loopCount = loopCount;
    this.idleAtStart = idle;
    return true;
  }

  /**
   * Hot. Without hooks: a tick at `t`, with the loop's idle time at `idle`. Returns for how long
   * the loop has waited since the last one. The caller is to call {@link open}.
   */
  tick(t: number, idle: number): number {
    this.waited = idle - this.idleAtStart;
    this.#waitEnd = this.busyPeriodStart + this.waited;
    this.#notedAt = t;
    this.idleAtStart = idle;
    return this.waited;
  }

  /** A busy period begins at `t`. */
  open(t: number): void {
    this.#isCounting = true;
    this.busyPeriodStart = t;
    this.busySince = t;
    this.#isOver = false;
    this.memory.openBusyPeriod(t);
  }

  /**
   * Hooks are armed, in the middle of what runs: from here on the loop count tells
   * iterations apart. What the loop has waited since the boundary was before that.
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
    if (!this.mayWait()) return false;
    const waited = this.waitedSoFar();
    if (isHooked) return time >= this.clock.now() - waited;
    return time < this.busyPeriodStart + waited ? true : undefined;
  }

  /**
   * Whether the loop may be waiting for events now. With hooks, that is after a wait that no
   * callback has followed: Node.js runs some code with no callback around it (`Atomics.waitAsync`,
   * and with it `import()` if modules are hooked from a thread of their own).
   */
  mayWait(): boolean {
    return !(this.waitedSoFar() < MIN_WAIT_MILLIS);
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
    this.#isOver = false;
    this.#waitEnd = Number.NaN;
    this.waited = 0;
    this.busyPeriodStart = Number.NaN;
    this.busySince = Number.NaN;
    this.memory.closeBusyPeriod();
  }

  /**
   * Startup ends with the first callback after the main script; in a worker thread, where
   * `loopStart` may never be set, with the second iteration.
   */
  #isStartup(isSame: boolean): boolean {
    return !this.clock.loopStarted() && (this.#loopCount === -1 || isSame);
  }
}
