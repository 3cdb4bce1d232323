/**
 * One unref'd timer that samples the lag of the event loop, and drives what has to be done now and
 * then. Never keeps the process alive. Some 50 wake-ups a second at the default interval, 2 while
 * the loop idles.
 */
import { inRootContext } from '../../../otel/root-context.ts';
import type { Clock } from '../../../support/clock.ts';
import { attempt } from '../../../support/guard.ts';
import { clearInterval, clearTimeout, setInterval, setTimeout } from '../../../support/time.ts';
import type { Ledger } from '../ledger.ts';
import { recordLag } from './health.ts';

/**
 * The loop idles if it was busy for less than this share of {@link IDLE_BEATS} intervals in a row.
 * A beat by itself takes 0.3 to 0.6 ms of 20 on a slow machine.
 */
const IDLE_SHARE = 0.05;
const IDLE_BEATS = 10;
/**
 * How far apart beats are, at most, while it idles. Each wakes up a CPU that sleeps, and finds cold
 * caches: 0.9 ms (`npm run bench -- idle`, without stack samples).
 */
export const IDLE_MILLIS = 500;
/**
 * How far apart the upkeep is, at least: under load, which leaves it cold caches, it takes 40 µs of
 * 120 (Node.js 24).
 */
export const UPKEEP_MILLIS = 100;

export interface LagSamplerOptions {
  intervalMillis: number;
  /** Whether beats may become rarer while the loop idles. Then a hook has to call `wake`. */
  canIdle(): boolean;
  /** Called for `samples` samples of one lag. */
  record: (lagMillis: number, samples: number) => void;
  /**
   * Called first on every beat, which began at `t` and was due at `due` (NaN on the first one).
   * Returns how much of the time from `due` to `t` no event waited: the loop waited itself, for
   * `waited` milliseconds as the ledger has it, or the process was stopped.
   */
  noLag: (t: number, due: number, waited: number) => number;
  /** Called on a beat, the first one for one. */
  upkeep: () => void;
  /** The loop idles from now on. */
  idle: () => void;
  /**
   * The loop does not idle any more. Something runs since `runsSince`; the next beat was due at
   * `due`, NaN in a beat.
   */
  wake: (runsSince: number, due: number) => void;
  /** The timer is armed: as long as the loop turns, the next beat comes at `due`. */
  armed?: (due: number) => void;
  onError: (error: unknown) => void;
}

export class LagSampler {
  /** Whether {@link wake} is to be called when something runs. */
  isIdle = false;
  #timer: NodeJS.Timeout | undefined;
  #timerMillis = 0;
  #due = Number.NaN;
  /** The latest beat. */
  #at = Number.NaN;
  #keptUpAt = Number.NEGATIVE_INFINITY;
  /** Beats since it was last asked whether the loop idles; when that was, and its idle time. */
  #beats = 0;
  #askedAt = Number.NaN;
  #idleTime = Number.NaN;
  /** When the latest interval began. */
  #from = Number.NaN;
  /** Intervals that passed while the loop idled, in which an arrival would not have waited. */
  #unsampled = 0;
  /** Intervals from one beat to the next while it idles. */
  readonly #idleIntervals: number;

  constructor(
    private readonly ledger: Pick<Ledger, 'waitedSince'>,
    private readonly clock: Clock,
    private readonly options: LagSamplerOptions,
  ) {
    this.#idleIntervals = Math.max(1, Math.floor(IDLE_MILLIS / options.intervalMillis));
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#due = Number.NaN;
    this.#at = Number.NaN;
    this.#keptUpAt = Number.NEGATIVE_INFINITY;
    this.#askedAt = Number.NaN;
    this.#unsampled = 0;
    this.#arm(this.options.intervalMillis);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.isIdle = false;
  }

  /** Milliseconds since the next beat was due; 0 if it is not due yet. */
  overdue(): number {
    return Math.max(0, this.clock.now() - this.#due) || 0;
  }

  /** One beat of the timer; public for tests. */
  beat(): void {
    const t = this.clock.now();
    const due = this.#due;
    // The beat sets it again if it ends well.
    this.#due = Number.NaN;
    this.#record(t, due);
    const isIdle = this.#idleIntervals > 1 && this.options.canIdle() && this.#idlesAt(t);
    this.#at = t;
    this.#upkeep(t);
    this.#idleIf(isIdle);
    // Node.js re-arms the timer when this callback has ended.
    this.#from = this.clock.now();
    this.#due = this.#from + this.#untilNext();
  }

  /**
   * Something begins to run while the loop is taken to idle; call it in the `before` of its
   * `resource`. The next beat comes when it would have come without idling. Some 7 µs, median, on
   * Node.js 24.
   */
  wake(resource: object | undefined): void {
    // The beat itself.
    if (resource === this.#timer) return;
    const { intervalMillis, wake } = this.options;
    const t = this.clock.now();
    const due = this.#due;
    const passed = Math.max(0, Math.floor((t - this.#from) / intervalMillis));
    this.isIdle = false;
    this.#askedAt = Number.NaN;
    // There are more only if the process was stopped.
    this.#unsampled += Math.min(passed, this.#idleIntervals);
    this.#from += passed * intervalMillis;
    this.#due = this.#from + intervalMillis;
    inRootContext(() => this.#arm(Math.max(1, Math.ceil(this.#due - t))));
    wake(t, due);
  }

  #record(t: number, due: number): void {
    const { intervalMillis, noLag, record } = this.options;
    const waited = noLag(t, due, this.ledger.waitedSince(due, t));
    // The first beat has no due time.
    if (Number.isNaN(due)) return;
    const unsampled = this.#unsampled + (this.isIdle ? this.#idleIntervals - 1 : 0);
    // First: a meter that throws must not be given them again.
    this.#unsampled = 0;
    if (unsampled > 0) record(0, unsampled);
    // The loop's wait after the due time is the timer's grain (a timer may also be some 1 ms
    // early), or a stopped process: no event waited for it.
    const lag = Math.max(0, t - due - Math.max(0, waited));
    recordLag(lag, intervalMillis, (each) => record(each, 1));
  }

  #upkeep(t: number): void {
    if (t - this.#keptUpAt < UPKEEP_MILLIS) return;
    this.#keptUpAt = t;
    this.options.upkeep();
  }

  #idlesAt(t: number): boolean {
    const isFirst = Number.isNaN(this.#askedAt);
    if (!isFirst && !this.isIdle && ++this.#beats < IDLE_BEATS) return false;
    const elapsed = t - this.#askedAt;
    const idleTime = this.clock.waited();
    const busy = elapsed - (idleTime - this.#idleTime);
    this.#beats = 0;
    this.#askedAt = t;
    this.#idleTime = idleTime;
    return busy < elapsed * IDLE_SHARE;
  }

  #idleIf(isIdle: boolean): void {
    if (isIdle === this.isIdle) return;
    this.isIdle = isIdle;
    if (isIdle) this.options.idle();
    else this.options.wake(this.#at, Number.NaN);
  }

  readonly #onTimer = (): void => {
    attempt(() => this.beat(), this.options.onError);
    // A beat may have stopped it.
    if (this.#timer === undefined) return;
    attempt(() => this.#arm(this.#untilNext()), this.options.onError);
  };

  #untilNext(): number {
    return (this.isIdle ? this.#idleIntervals : 1) * this.options.intervalMillis;
  }

  #arm(millis: number): void {
    if (this.#timer !== undefined && millis === this.#timerMillis) {
      this.#timer.refresh();
    } else {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(this.#onTimer, millis).unref();
      this.#timerMillis = millis;
    }
    this.options.armed?.(this.clock.now() + millis);
  }
}

/**
 * A timer with nothing to do, for thresholds that the lag's timer is too slow for: each time it
 * fires, the event loop turns, which shows that nothing blocks it.
 */
export class EmptyTimer {
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly intervalMillis: number) {}

  start(): void {
    this.#timer ??= setInterval(() => {}, this.intervalMillis).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
