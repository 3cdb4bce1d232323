/** The stack samples of the running busy period. */
import { type Context, trace } from '@opentelemetry/api';
import type { StackSample, WeightedSample } from '../../../block.ts';
import type { BlockKind } from '../../../types.ts';
import { hasUserCode } from '../../explain/name/stack-path.ts';
import { weigh } from '../../explain/name/weights.ts';

/** The latest samples are kept; a busy period may contain many blocks, each with some 20. */
const MAX_SAMPLES = 64;
/** The share of a period that may follow its one callback. */
const MAX_AFTER_SHARE = 0.1;
/** A larger share of a run before its first stack sample may have been anybody's. */
const MAX_UNKNOWN_SHARE = 2 / 3;

export class StackSamples {
  #samples: StackSample[] = [];

  add(sample: StackSample): void {
    if (this.#samples.length === MAX_SAMPLES) this.#samples.shift();
    this.#samples.push(sample);
  }

  clear(): void {
    if (this.#samples.length !== 0) this.#samples = [];
  }

  /** When code that is not of Node.js was last seen running; cold. */
  get codeSeenAt(): number {
    const latest = this.#samples.findLast(({ frames }) => hasUserCode(frames));
    return latest?.time ?? Number.NEGATIVE_INFINITY;
  }

  /** How many callbacks the samples show in a pile-up: a lower bound. */
  callbacksIn(start: number, end: number): number {
    const samples = this.#samples.filter(({ time }) => time >= start && time <= end);
    return Math.max(2, new Set(samples.map(runOf)).size);
  }

  /**
   * What the samples say of a period from `start` to `end` in which no run reached the threshold:
   * one callback, one drain, or several. Undefined if there are none, or too late.
   */
  kindOf(start: number, end: number): BlockKind | undefined {
    const samples = this.#samples.filter(({ time }) => time >= start && time <= end);
    if (samples.length === 0) return undefined;
    const callbacks = samples.filter(({ drain }) => drain === undefined);
    const drained = samples.filter(({ drain }) => drain !== undefined);
    const traces = drained.flatMap(({ context }) => traceOf(context) ?? []);
    const isMany = (ids: readonly unknown[]) => new Set(ids).size > 1;
    if (isMany(callbacks.map(runOf)) || isMany(traces)) return 'pile-up';
    // What drains after a callback is seen in its trace.
    const isOfOthers = callbacks.some(({ context }) => !traces.includes(traceOf(context) ?? ''));
    if (drained.length > 0) return isOfOthers ? 'pile-up' : 'microtasks';
    const [first] = samples as [StackSample];
    const { ranUntil = end } = first;
    // What came after the callback has ended is of others; of what came before it, nobody knows.
    if (ranUntil < end - (end - start) * MAX_AFTER_SHARE) return 'pile-up';
    const isKnown = !isMostlyUnknown(start, first.requestedAt || first.time, end);
    return isKnown ? 'callback' : undefined;
  }

  /** The samples from `start` to `end`, which together stand for all of that time. */
  within(start: number, end: number): WeightedSample[] {
    return weigh(this.#samples, start, end)
      .filter(({ isInside }) => isInside)
      .map(({ sample, before, after }) => withWeight(sample, before + after));
  }
}

/**
 * Whether most of what ran from `start` to `end` may have been anybody's, as the first stack sample
 * was asked for at `known`. It is due at half of the threshold, so this takes a starved machine.
 */
export const isMostlyUnknown = (start: number, known: number, end: number): boolean =>
  known - start > (end - start) * MAX_UNKNOWN_SHARE;

/** What identifies the callback that a sample has interrupted. */
const runOf = ({ ranUntil, asyncId }: StackSample) => ranUntil ?? asyncId;

export const traceOf = (context: Context): string | undefined =>
  trace.getSpan(context)?.spanContext().traceId;

/** The stack stays unread: a scope that ends may ask for this in the middle of a callback. */
function withWeight(sample: StackSample, weight: number): WeightedSample {
  const { requestedAt, time, context } = sample;
  return {
    requestedAt,
    time,
    context,
    get resourceType() {
      return sample.resourceType;
    },
    get frames() {
      return sample.frames;
    },
    get nativeCall() {
      return sample.nativeCall;
    },
    weight,
  };
}
