/** The stack samples of the running busy period. */
import type { StackSample, WeightedSample } from '../../block.ts';
import { hasUserCode } from '../../name/stack-path.ts';
import { weigh } from '../../name/weights.ts';

/** The latest samples are kept; a busy period may contain many blocks, each with some 20. */
const MAX_SAMPLES = 64;

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

  /** The samples from `start` to `end`, which together stand for all of that time. */
  within(start: number, end: number): WeightedSample[] {
    return weigh(this.#samples, start, end)
      .filter(({ isInside }) => isInside)
      .map(({ sample, before, after }) => withWeight(sample, before + after));
  }
}

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
