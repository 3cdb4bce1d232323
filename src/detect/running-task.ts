/** The running task: a callback and what drains after it. Nothing is allocated for one. */
import type { Context } from '@opentelemetry/api';

export class RunningTask {
  start = Number.NaN;
  /** Callbacks of the busy period that had begun before it. */
  firstCallback = 0;
  /** Context of its latest scope that ended without a clock read. */
  untimedScope: Context | undefined;

  /** Hot. It begins at `t`. */
  begin(t: number, callbacks: number): void {
    this.start = t;
    this.firstCallback = callbacks;
    this.untimedScope = undefined;
  }
}
