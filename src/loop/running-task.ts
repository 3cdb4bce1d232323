/** The running task: a callback and what drains after it. Nothing is allocated for one. */
import type { Context } from '@opentelemetry/api';
import type { Attribution } from './attribution.ts';

export class RunningTask {
  start = Number.NaN;
  /** Callbacks of the busy period that had begun before it. */
  firstCallback = 0;
  /** Context of its latest scope that ended without a clock read. */
  untimedScope: Context | undefined;
  #votedBefore = 0.5;

  /** Hot. It begins at `t`, when `voted` milliseconds had been voted for. */
  begin(t: number, callbacks: number, voted: number): void {
    this.start = t;
    this.firstCallback = callbacks;
    this.untimedScope = undefined;
    this.#votedBefore = voted;
  }

  /**
   * It has ended: its untimed scope votes with all of its time, less what was voted for in it.
   * @param reportedEnd until when its time has been reported: nothing votes for that any more
   */
  vote(end: number, reportedEnd: number, attribution: Attribution): void {
    const context = this.untimedScope;
    if (context === undefined) return;
    this.untimedScope = undefined;
    if (!(end >= attribution.scopesVoteFrom) || reportedEnd > this.start) return;
    const by = { context, resourceType: undefined };
    attribution.voteScope(this.start, end, this.#votedBefore, by);
  }
}
