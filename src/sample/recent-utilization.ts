/**
 * How busy the loop was over the last seconds, as the watchdog thread knows it: from what each beat
 * of the main thread leaves in the shared memory. In constant memory.
 */
import { Mark } from './shared-memory.ts';

/** What is shorter is a burst: a service at a third of its time must not reach a half by chance. */
export const UTILIZATION_WINDOW_MILLIS = 5000;
const READING_MILLIS = 250;
/** Without a beat for so long, the loop is blocked; an idle one has its beats 200 ms apart. */
const MIN_BLOCKED_MILLIS = 250;

export class RecentUtilization {
  /** Of the beats, the oldest first. */
  readonly #times: number[] = [];
  readonly #idleTimes: number[] = [];

  constructor(private readonly marks: Float64Array) {}

  /** To be called now and then. */
  note(): void {
    const beatAt = this.marks[Mark.beatAt] as number;
    const latest = this.#times.at(-1) ?? Number.NEGATIVE_INFINITY;
    if (beatAt === 0 || beatAt - latest < READING_MILLIS) return;
    this.#times.push(beatAt);
    this.#idleTimes.push(this.marks[Mark.idleTime] as number);
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
    const beatAt = this.marks[Mark.beatAt] as number;
    const waited = (this.marks[Mark.idleTime] as number) - (this.#idleTimes[from] as number);
    const blocked = now - beatAt >= MIN_BLOCKED_MILLIS ? now - beatAt : 0;
    const busy = beatAt - since - waited + blocked;
    return Math.max(0, busy) / Math.max(UTILIZATION_WINDOW_MILLIS, beatAt - since + blocked);
  }
}
