/** The running task: a callback and what drains after it. Nothing is allocated for one. */
import type { Context } from '@opentelemetry/api';
import type { BlockMaker } from './block-maker.ts';
import type { IterationClock } from './iteration-clock.ts';

export class RunningTask {
  start = Number.NaN;
  /** Callbacks of the busy period that had begun before it. */
  firstCallback = 0;
  /** Context of its latest scope that ended without a clock read. */
  untimedScope: Context | undefined;
  #votedBefore = 0.5;

  constructor(
    private readonly iterations: Pick<IterationClock, 'isSurelyShort'>,
    private readonly blocks: Pick<BlockMaker, 'attribution' | 'reported'>,
  ) {}

  /**
   * Hot. It begins at `t`, when `voted` milliseconds had been voted for. The one before has
   * {@link vote voted}, or {@link isTimed nothing to vote for}.
   */
  begin(t: number, callbacks: number, voted: number): void {
    this.start = t;
    this.firstCallback = callbacks;
    this.#votedBefore = voted;
  }

  /** Hot. Whether every scope in it, so far, ended with a clock read. */
  isTimed(): boolean {
    return this.untimedScope === undefined;
  }

  /**
   * It has ended: its untimed scope votes with all of its time, less what was voted for in it.
   * Not where the watchdog has marked the busy period: from then on stack samples, and scopes that
   * are timed, say what runs. Nor where its time has been reported.
   */
  vote(end: number): void {
    const context = this.untimedScope;
    if (context === undefined) return;
    this.untimedScope = undefined;
    const { attribution, reported } = this.blocks;
    if (!(end >= attribution.scopesVoteFrom) || reported.end > this.start) return;
    if (!this.iterations.isSurelyShort()) return;
    const by = { context, resourceType: undefined };
    attribution.voteScope(this.start, end, this.#votedBefore, by);
  }
}
