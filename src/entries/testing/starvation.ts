/**
 * How long blocks would have been with a CPU to spare. On a busy machine other processes make every
 * block longer, and callbacks pile up that come one after the other on a quiet one. Linux counts
 * how long a thread waits for a CPU; elsewhere nothing is known, and every block counts whole.
 */
import type { BlockMessage } from '../../channels.ts';
import { type Clock, SystemClock } from '../../support/clock.ts';
import { Schedstat } from '../../support/schedstat.ts';
import { clearImmediate, setImmediate } from '../../support/time.ts';
import type { EventLoopBlock } from '../../types.ts';

/** Without a CPU for this share of the time, a thread counts as starved. */
const STARVED_SHARE = 0.2;
/**
 * V8 compiles code and collects garbage on threads of its own. If these have no CPU either, code
 * runs unoptimized for longer, and the main thread collects alone: it takes more CPU time itself.
 */
const MORE_CPU = 1.5;

export class Starvation {
  readonly #iterations: {
    readonly start: number;
    readonly end: number;
    /** Shares of the time, without the loop's wait for events: the thread had no CPU, or slept. */
    readonly starvedShare: number;
    readonly sleptShare: number;
    /** For how long the thread had no CPU before it, since the loop last waited for events. */
    readonly backlogMillis: number;
  }[] = [];
  #immediate: NodeJS.Immediate | undefined;
  #at = Number.NaN;
  #idle = Number.NaN;
  #waited = Number.NaN;
  #ran = Number.NaN;
  #backlogMillis = 0;

  /** @param leastMillis shorter iterations are not kept: a block is no longer than its iteration */
  constructor(
    private readonly leastMillis: number,
    private readonly clock: Pick<Clock, 'now' | 'idle' | 'epoch'> = new SystemClock(),
    private readonly schedstat = new Schedstat(),
  ) {}

  start(): void {
    this.schedstat.start();
    this.#run();
  }

  stop(): void {
    clearImmediate(this.#immediate);
    this.turn();
    this.schedstat.stop();
  }

  /**
   * For how long a block would have lasted on a quiet machine, in milliseconds. The time in which
   * the thread waited for a CPU is a share of that of the iteration, within the bounds that are
   * known of the block itself.
   */
  lengthOf(
    block: EventLoopBlock,
    runDelayMillis: BlockMessage['runDelayMillis'] = NO_BOUNDS,
  ): number {
    const { atLeast, atMost } = runDelayMillis;
    const { startTimeMillis, durationMillis, kind, gcTimeMillis = 0 } = block;
    const middle = startTimeMillis + durationMillis / 2 - this.clock.epoch(0);
    const iteration = this.#iterations.find(({ start, end }) => start <= middle && middle <= end);
    if (iteration === undefined) return durationMillis - atLeast;
    const { starvedShare, sleptShare, backlogMillis } = iteration;
    const waited = Math.min(Math.max(durationMillis * starvedShare, atLeast), atMost);
    // With a CPU to spare, some of its callbacks would have run before the others were due.
    const isPileUp = kind === 'pile-up' || kind === undefined;
    const length = durationMillis - waited - (isPileUp ? backlogMillis : 0);
    if (waited < STARVED_SHARE * durationMillis) return length;
    // A collection waits for V8's threads.
    const waitedForGc = Math.min(durationMillis * sleptShare, gcTimeMillis);
    return (length - waitedForGc) / MORE_CPU;
  }

  readonly #run = (): void => {
    this.turn();
    this.#immediate = setImmediate(this.#run).unref();
  };

  /** An iteration has ended; public for tests. */
  turn(): void {
    if (!this.schedstat.read()) return;
    const at = this.clock.now();
    const idle = this.clock.idle();
    const { waited, ran } = this.schedstat;
    const idled = idle - this.#idle;
    const busy = at - this.#at - idled;
    const starved = waited - this.#waited;
    if (busy >= this.leastMillis) {
      this.#iterations.push({
        start: this.#at,
        end: at,
        starvedShare: Math.min(1, starved / busy),
        sleptShare: Math.max(0, busy - starved - (ran - this.#ran)) / busy,
        backlogMillis: this.#backlogMillis,
      });
    }
    // A loop that waits for events has handled all that were due.
    if (busy >= 0) this.#backlogMillis = idled > 0 ? starved : this.#backlogMillis + starved;
    this.#at = at;
    this.#idle = idle;
    this.#waited = waited;
    this.#ran = ran;
  }
}

const NO_BOUNDS = { atLeast: 0, atMost: Number.POSITIVE_INFINITY };
