/**
 * The account of the event loop's time without async hooks (`asyncHooks: 'off'`, and runtimes that
 * do not count iterations): scopes are exact; a block outside of all scopes shows in the lateness
 * of a beat, to within one interval of the beats.
 */
import type { Context } from '@opentelemetry/api';
import type { OngoingBlock, StackSample } from '../block.ts';
import type { Clock } from '../support/clock.ts';
import type { BlockKind } from '../types.ts';
import { createSharedMemory, Mark } from '../watchdog/shared-memory.ts';
import { BlockMaker, type Known, type OnBlock } from './block-maker.ts';
import type { Ledger } from './ledger.ts';
import type { Surroundings } from './surroundings.ts';

/** Timers count whole milliseconds, and may be one late although nothing blocks. */
const TIMER_GRAIN_MILLIS = 2;

export class ScopeLedger implements Ledger {
  readonly task = { start: Number.NaN };
  /**
   * Until when time is accounted for, by a beat, {@link finish} or {@link endWait}; NaN before the
   * first beat.
   */
  #accountedTo = Number.NaN;
  #idle = Number.NaN;
  readonly #blocks: BlockMaker;

  constructor(
    private readonly thresholdMillis: number,
    private readonly intervalMillis: number,
    private readonly clock: Clock,
    private readonly around: Surroundings,
    onBlock: OnBlock,
    private readonly marks: Float64Array = createSharedMemory().marks,
  ) {
    this.#blocks = new BlockMaker(thresholdMillis, clock, around, onBlock, marks);
  }

  get voted(): number {
    return this.#blocks.attribution.voted;
  }

  scope(context: Context, start: number, votedBefore: number): void {
    const t = this.clock.now();
    const { attribution } = this.#blocks;
    const isLong = t - start >= this.thresholdMillis;
    if (!isLong && !attribution.isVote(start, t)) return;
    const attributed = { context, resourceType: this.around.resourceType() };
    if (isLong) {
      const isWhole = attribution.voted === votedBefore;
      if (this.#report('callback', start, t, { attributed, isWhole })) return;
    }
    if (!this.#blocks.isOwnWork) attribution.voteScope(start, t, votedBefore, attributed);
  }

  add(sample: StackSample): void {
    this.#blocks.add(sample);
  }

  /** A busy period is all that is not accounted for. */
  isLatest(busyPeriodStart: number): boolean {
    return this.#accountedTo === busyPeriodStart;
  }

  hasWaited(): boolean {
    return true;
  }

  ongoing(): OngoingBlock {
    return {
      kind: undefined,
      start: Math.max(this.#accountedTo, this.#blocks.reported.end),
      callbacks: 1,
      cpu: this.#blocks.cpu.between(this.#accountedTo, this.clock.now()),
      resourceType: this.around.resourceType(),
    };
  }

  /** Callbacks are not known. */
  ongoingPileUp(): undefined {
    return undefined;
  }

  /** There are no callbacks to time. */
  relax(): void {}

  asOwnWork(work: () => void): void {
    this.#blocks.asOwnWork(work, (start, end) => this.#report('callback', start, end));
  }

  /** Where a beat is overdue, it may not come any more: the account is made without it. */
  finish(): void {
    const t = this.clock.now();
    const due = this.#accountedTo + this.intervalMillis;
    if (t > due) this.waitedSince(due, t);
  }

  endWait(): void {
    if (Number.isNaN(this.#accountedTo)) return;
    this.#idle = this.clock.idle();
    this.#open(this.clock.now());
  }

  reset(): void {
    this.#accountedTo = Number.NaN;
    this.#idle = Number.NaN;
    this.#blocks.reset();
    this.marks[Mark.busyPeriodStart] = 0;
  }

  beat(): number {
    return this.clock.now();
  }

  waitedSince(due: number, beganAt: number): number {
    const idle = this.clock.idle();
    // What was accounted for meanwhile does not count again.
    const lateness = beganAt - Math.max(due, this.#accountedTo + this.intervalMillis);
    const waited = idle - this.#idle + this.#lostWait(lateness, idle - this.#idle, beganAt);
    this.#idle = idle;
    // Where waits are not counted, the loop may have waited until the beat was due.
    const busy = Number.isNaN(idle) ? lateness : lateness + this.intervalMillis - waited;
    // It began at some time in the interval before the beat was due: `busy` is its length, or up to
    // an interval more. What scopes reported of it is left out.
    const isBlock =
      busy >= this.thresholdMillis && lateness + this.intervalMillis / 2 >= this.thresholdMillis;
    if (isBlock) this.#report(undefined, beganAt - busy, beganAt);
    this.#open(beganAt);
    return Math.max(0, waited - this.intervalMillis) || 0;
  }

  /**
   * How much longer than `counted` the loop waited. Something ran
   * 1. all the time, if a stack sample showed code, or a beat is late by an interval or more;
   * 2. else since the beat was due, or for longer, as far as {@link BlockMaker.lostWait} knows.
   */
  #lostWait(lateness: number, counted: number, end: number): number {
    const { attribution } = this.#blocks;
    if (lateness >= this.intervalMillis || attribution.codeSeenAt > this.#accountedTo) return 0;
    const busy = end - this.#accountedTo - counted;
    const lost = Math.min(this.#blocks.lostWait(end - busy, end), busy - Math.max(0, lateness));
    if (!(lost > 0)) return 0;
    this.clock.addLostWait(lost);
    return lost;
  }

  /** Before the next beat is due, no block can have happened: until then, votes would only cost. */
  #open(t: number): void {
    this.#accountedTo = t;
    this.#blocks.open(t, 0);
    this.#blocks.attribution.scopesVoteFrom = t + this.intervalMillis + TIMER_GRAIN_MILLIS;
    this.marks[Mark.busyPeriodStart] = t;
  }

  /** False where it is no block. */
  #report(kind: BlockKind | undefined, start: number, end: number, known?: Known): boolean {
    if (Number.isNaN(this.#accountedTo)) return true;
    return this.#blocks.make(kind, Math.max(start, this.#accountedTo), end, -1, 0, known);
  }
}
