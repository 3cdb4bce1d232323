/** How deep callbacks are nested, and when the inner ones began: nothing is kept per resource. */
import { type Context, trace } from '@opentelemetry/api';
import { expectsBlocks } from '../otel/expected-blocks.ts';
import { isTracingSuppressed } from '../otel/sdk-internals.ts';
import type { Attributed } from './attribution/votes.ts';
import type { Surroundings } from './surroundings.ts';

/** Callbacks deeper than this count for the one around them. */
export const MAX_NESTED = 32;

export class CallbackStack {
  depth = 0;
  readonly #starts = new Float64Array(MAX_NESTED + 1).fill(Number.NaN);
  readonly #voted = new Float64Array(MAX_NESTED + 1);

  /** Hot. Counts a `before`; true where it is an outermost one. */
  enter(): boolean {
    return this.depth++ === 0;
  }

  /**
   * Hot. Counts an `after`; the callbacks left around it, or -1 where its `before` was not called.
   */
  leave(): number {
    // Zero: the hook was enabled inside a callback.
    return this.depth === 0 ? -1 : --this.depth;
  }

  /** The innermost callback began at `t`, when `voted` milliseconds had been voted for. */
  begin(t: number, voted: number): void {
    if (this.depth > MAX_NESTED) return;
    this.#starts[this.depth] = t;
    this.#voted[this.depth] = voted;
  }

  startOf(depth: number): number {
    return this.#starts[depth] as number;
  }

  votedBefore(depth: number): number {
    return this.#voted[depth] as number;
  }

  /** Sets the depth to what it is known to be. Returns whether it was another one. */
  resync(depth: number): boolean {
    const isOther = this.depth !== depth;
    this.depth = depth;
    return isOther;
  }

  /**
   * Whether a scope that has just ended is part of a scope or callback with the same span: the
   * active span is its own, and it is not set apart as expected or as an exporter's. The two are
   * one block.
   */
  isInItsSpan(context: Context, around: Surroundings): boolean {
    const span = trace.getSpan(context);
    if (this.depth === 0 || span === undefined) return false;
    const active = around.active();
    return (
      trace.getSpan(active) === span &&
      expectsBlocks(active) === expectsBlocks(context) &&
      isTracingSuppressed(active) === isTracingSuppressed(context)
    );
  }

  /** What has just ended. Asking for its context may run a callback: made too deep to count. */
  running(around: Surroundings): Attributed {
    this.depth += MAX_NESTED + 1;
    try {
      return { context: around.context(), resourceType: around.resourceType() };
    } finally {
      this.depth -= MAX_NESTED + 1;
    }
  }
}
