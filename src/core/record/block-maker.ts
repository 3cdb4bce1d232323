/**
 * Makes blocks of time that reached the threshold: each millisecond once, with all that is known.
 */
import type { Block, OngoingPileUp, StackSample } from '../../block.ts';
import type { Clock } from '../../support/clock.ts';
import type { BlockKind } from '../../types.ts';
import { Progress, type SharedMemory } from '../sample/shared-memory.ts';
import { Attribution } from './attribution/attribution.ts';
import { typeNameOf } from './attribution/owner.ts';
import type { Attributed } from './attribution/votes.ts';
import { CpuMeter } from './cpu-meter.ts';
import { CPU_GRAIN_MILLIS } from './exclude/run-delay.ts';
import type { IterationClock } from './iteration-clock.ts';
import { ReportedIntervals } from './reported-intervals.ts';
import type { RunningCode } from './running-code.ts';

/** A shorter wait that libuv did not count is not worth the readings (some 3 µs). */
export const MIN_LOST_WAIT_MILLIS = 5;
/** A thread that ran for less of the time did not lack a CPU: it waited. */
const MIN_CPU_SHARE = 0.1;

/** How far apart CPU readings are, as a share of the threshold. */
const CPU_SHARE = 0.1;

/** A share of its length: what an ongoing pile-up has grown by since is left out, up to this. */
const PILE_UP_GROWTH = 0.05;

/** Reports and source maps that one busy period may contain. */
const MAX_OWN_WORK = 100;

/** False if this interval is no block. Its time counts toward the code around it. */
export type OnBlock = (block: Block) => boolean;

export class BlockMaker {
  readonly reported = new ReportedIntervals();
  readonly attribution: Attribution;
  readonly cpu: CpuMeter;
  made = 0;
  /** Whether reporting of this package runs: its contexts are those of spans that have ended. */
  isOwnWork = false;
  /** How long reporting of this package took in the busy period. The first one may take 30 ms. */
  #ownWork: { readonly start: number; readonly end: number }[] = [];
  #pileUp: OngoingPileUp | undefined;

  /** @param memory shared with the watchdog thread, if there is one */
  constructor(
    private readonly thresholdMillis: number,
    private readonly clock: Clock,
    private readonly code: RunningCode,
    private readonly iterations: IterationClock,
    private readonly onBlock: OnBlock,
    private readonly memory: SharedMemory,
  ) {
    this.attribution = new Attribution(thresholdMillis, clock, code.spans);
    this.cpu = new CpuMeter(clock, thresholdMillis * CPU_SHARE);
  }

  /** A busy period begins at `t`, with the loop's idle time at `idle`. */
  open(t: number, idle: number): void {
    this.reported.clear();
    if (this.#ownWork.length !== 0) this.#ownWork = [];
    this.#pileUp = undefined;
    this.attribution.open(t);
    this.cpu.open(t, idle);
  }

  reset(): void {
    this.reported.clear();
    this.#ownWork = [];
    this.#pileUp = undefined;
    this.attribution.open(Number.POSITIVE_INFINITY);
  }

  add(sample: StackSample): void {
    if (!this.isOwnWork) this.attribution.samples.add(sample);
  }

  /**
   * How much of the time until `end`, a moment ago, the loop waited for events although libuv does
   * not count it: a signal interrupted the wait. Something ran for as long as
   * 1. it is known to have run: until `knownUntil`, or until a stack sample showed code;
   * 2. the thread used CPU, or lacked it while it used some.
   */
  lostWait(knownUntil: number, end: number): number {
    if (!(end - knownUntil >= MIN_LOST_WAIT_MILLIS)) return 0;
    const { codeSeenAt } = this.attribution.samples;
    const seen = codeSeenAt < end ? codeSeenAt : knownUntil;
    const since = Math.max(knownUntil, seen, this.reported.end);
    const unknown = end - since;
    const used = this.cpu.since(since);
    // Under load nearly always: it ran, whatever the kernel's counters say, which take longer.
    if (this.clock.cpuIsOfThread && unknown - used <= CPU_GRAIN_MILLIS) return 0;
    const times = this.code.threadTimes?.(since, end);
    const cpu = Math.min(used, times?.ranAtMost ?? Number.POSITIVE_INFINITY);
    const isWork = cpu >= unknown * MIN_CPU_SHARE;
    const lackedCpu = isWork ? (times?.atMost ?? Number.POSITIVE_INFINITY) : 0;
    return Math.max(0, unknown - cpu - CPU_GRAIN_MILLIS - lackedCpu) || 0;
  }

  /**
   * Hot. What has piled up so far and is not reported, if it reaches the threshold; asked for each
   * span that ends. To find out all that ran in it takes as long as 100 spans: the same object as
   * before until the pile-up has grown by {@link PILE_UP_GROWTH}.
   */
  pileUp(from: number, end: number): OngoingPileUp | undefined {
    const start = Math.max(from, this.reported.end);
    if (!(end - start - this.#ownWithin(start, end) >= this.thresholdMillis)) return undefined;
    const known = this.#pileUp;
    const isKnown =
      known !== undefined &&
      known.start === start &&
      end - known.end <= (known.end - start) * PILE_UP_GROWTH;
    if (isKnown) return known;
    const cpu = this.cpu.between(start, end, this.clock.now());
    this.#pileUp = { ...this.attribution.pileUp(start, end, from), cpu };
    return this.#pileUp;
  }

  /**
   * Makes a block of each part from `start` to `end` that reaches the threshold and is not
   * reported.
   * @param around the one scope or callback that all of it is a part of, if there is one
   * @param busySince when the loop has waited last before it
   * @returns false if one of the parts is no block
   */
  make(
    kind: BlockKind | undefined,
    start: number,
    end: number,
    around?: Attributed,
    busySince?: number,
  ): boolean {
    const { thresholdMillis, reported } = this;
    return reported.add(start, end, thresholdMillis, (from, to) => {
      // What needs this package's own work to reach the threshold is no block.
      const isShort = to - from - this.#ownWithin(from, to) < thresholdMillis;
      if (isShort && !this.isOwnWork) return false;
      const { attributed, ran, samples } = this.attribution.of(
        from,
        to,
        around,
        kind === 'pile-up' || kind === undefined,
        busySince,
      );
      const times = this.code.threadTimes?.(from, to);
      this.made++;
      const isBlock = this.onBlock({
        kind,
        start: from,
        end: to,
        callbacks: kind === 'pile-up' ? this.attribution.samples.callbacksIn(from, to) : 1,
        context: attributed?.context,
        resourceType: typeNameOf(attributed?.resourceType),
        cpu: Math.min(this.cpu.between(from, to), times?.ranAtMost ?? Number.POSITIVE_INFINITY),
        samples,
        ran,
        waitedSince: this.iterations.isOver ? 0 : undefined,
        isOwnWork: this.isOwnWork,
      });
      if (!isBlock) return false;
      // The watchdog thread samples what runs from here on anew.
      const { progress } = this.memory;
      progress.set(Progress.reportedUntil, Math.max(progress.get(Progress.reportedUntil), to));
      return true;
    });
  }

  /**
   * Blocks inside `work` are this package's own.
   * @param found given the time that it took, if that reaches the threshold
   */
  asOwnWork(work: () => void, found: (start: number, end: number) => void): void {
    if (this.isOwnWork) {
      work();
      return;
    }
    const start = this.clock.now();
    this.isOwnWork = true;
    try {
      work();
    } finally {
      try {
        const end = this.clock.now();
        if (end - start >= this.thresholdMillis) found(start, end);
        // Own work that is no block by itself is not the application's with more around it either.
        if (this.#ownWork.length < MAX_OWN_WORK) this.#ownWork.push({ start, end });
      } finally {
        this.isOwnWork = false;
      }
    }
  }

  #ownWithin(from: number, to: number): number {
    let millis = 0;
    for (const { start, end } of this.#ownWork)
      millis += Math.max(0, Math.min(end, to) - Math.max(start, from));
    return millis;
  }
}
