/**
 * The random moments at which the loop profile has what runs sampled. Guarantees: they come at
 * intervals that are distributed exponentially, whatever the loop does, so that each piece of the
 * loop's time has the same chance.
 *
 * A moment in which the main thread does not answer, since native code runs, is paused until the
 * answer: the main thread counts the time until then for that code, and moments go on afterwards.
 * Watchdog thread only.
 */
import type { ThreadExtra } from '../extra.ts';
import type { ProfileOptions } from '../sample/protocol.ts';
import { Progress, Request, type SharedMemory } from '../sample/shared-memory.ts';
import type { MomentParts, Moments } from '../sample/watchdog-loop.ts';

export const MIN_UTILIZATION = 0.5;
/** A moment that is later than this was in a suspension of the process: nothing ran. */
const MAX_LATE_MILLIS = 20;
/** After this time without a moment, the first ones come at the short interval again. */
const RENEWAL_MILLIS = 10 * 60_000;

export class ProfileMoments implements Moments {
  readonly #utilization: RecentUtilization;
  readonly #random: () => number;
  #firstLeft: number;
  #latest = Number.NEGATIVE_INFINITY;
  #due: number;

  /** @param parts `random`: from 0 to 1, 1 excluded */
  constructor(
    private readonly parts: MomentParts & {
      readonly options: ProfileOptions;
      readonly random?: () => number;
    },
  ) {
    const { memory, options } = parts;
    this.#utilization = new RecentUtilization(memory.progress, options.maxBeatMillis);
    this.#random = parts.random ?? Math.random;
    this.#firstLeft = options.firstMoments;
    this.#due = this.#draw(parts.now());
  }

  get untilDue(): number {
    return this.#due - this.parts.now();
  }

  /** Call it now and then. */
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
    const { answeredAt: answer, request } = this.parts.memory;
    const answeredAt = answer.get(0);
    const requestedAt = request.values[Request.requestedAt] as number;
    const isIn = this.#due > requestedAt && this.#due <= answeredAt;
    if (isIn) this.#due = this.#draw(answeredAt);
  }

  /** Has what runs sampled, if it is time to; calls `onWaiting` while that is under way. */
  async sampleIfDue(onWaiting: () => void): Promise<void> {
    const { parts } = this;
    const now = parts.now();
    const late = now - this.#due;
    if (late < 0) return;
    const isWanted = this.#isWanted(now);
    const interval = isWanted ? this.#interval() : 0;
    parts.memory.request.set(Request.profileInterval, interval);
    // Unwanted ones would only wake this thread: they need not be close.
    this.#due = this.#draw(now, isWanted ? interval : parts.options.intervalMillis);
    if (!isWanted || late > MAX_LATE_MILLIS) return;
    if (now - this.#latest > RENEWAL_MILLIS) this.#firstLeft = parts.options.firstMoments;
    this.#latest = now;
    if (this.#firstLeft > 0) this.#firstLeft--;
    const reply = await parts.sample(onWaiting);
    this.#due = this.#draw(reply === undefined ? parts.now() : parts.memory.answeredAt.get(0));
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

/** In a shorter time, a service at a third of its time may reach a half by chance. */
export const UTILIZATION_WINDOW_MILLIS = 5000;
const READING_MILLIS = 250;
/** A beat that is later than this does not come because the loop is blocked. */
const MAX_BEAT_LATE_MILLIS = 50;

/**
 * How busy the loop was over the last seconds, as the watchdog thread knows it: from what the main
 * thread leaves in the shared memory, some beats apart. In constant memory.
 */
class RecentUtilization {
  /** The beats' times, the oldest first. */
  readonly #times: number[] = [];
  readonly #idleTimes: number[] = [];

  constructor(
    private readonly progress: SharedMemory['progress'],
    private readonly maxBeatMillis: number,
  ) {}

  /** Call it now and then. */
  note(): void {
    const { [Progress.beatAt]: beatAt = 0, [Progress.idleTime]: idleTime = 0 } =
      this.progress.read();
    const latest = this.#times.at(-1) ?? Number.NEGATIVE_INFINITY;
    if (beatAt === 0 || beatAt - latest < READING_MILLIS) return;
    this.#times.push(beatAt);
    this.#idleTimes.push(idleTime);
    while ((this.#times[1] ?? beatAt) <= beatAt - UTILIZATION_WINDOW_MILLIS) {
      this.#times.shift();
      this.#idleTimes.shift();
    }
  }

  /** 0 to 1; what came before the first beat counts as idle. */
  read(now: number): number {
    if (this.#times.length === 0) return 0;
    // While the loop is blocked, the window moves on without a beat.
    const before = this.#times.findLastIndex((time) => time <= now - UTILIZATION_WINDOW_MILLIS);
    const from = Math.max(0, before);
    const since = this.#times[from] as number;
    const { [Progress.beatAt]: beatAt = 0, [Progress.idleTime]: idleTime = 0 } =
      this.progress.read();
    const waited = idleTime - (this.#idleTimes[from] as number);
    const isBlocked = now - beatAt >= this.maxBeatMillis + MAX_BEAT_LATE_MILLIS;
    const blocked = isBlocked ? now - beatAt : 0;
    const busy = beatAt - since - waited + blocked;
    return Math.max(0, busy) / Math.max(UTILIZATION_WINDOW_MILLIS, beatAt - since + blocked);
  }
}

/** In the watchdog thread. */
export const profile: ThreadExtra = {
  moments: ({ profile: options }, parts) => options && new ProfileMoments({ ...parts, options }),
};
