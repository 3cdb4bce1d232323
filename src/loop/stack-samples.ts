/** What the watchdog's captures saw in the running stretch. */
import type { Context } from '@opentelemetry/api';
import type { Culprit } from '../code/blocking-function.ts';

/** The watchdog asks for some 20 in one stretch; more can only come from a bug. */
const MAX_SAMPLES = 64;

/** One look at what was running. */
export interface Sample {
  /** When, a time of `Clock.now()`. */
  readonly time: number;
  readonly context: Context;
  readonly resourceType: string | undefined;
  readonly culprit: Culprit | undefined;
  /** The stack as V8 writes it, one frame a line; empty where there was none. */
  readonly stackTrace: string;
}

/** A sample, and the milliseconds of a block that it stands for: to half-way to its neighbours. */
export interface WeightedSample extends Sample {
  readonly weight: number;
}

export class Samples {
  #samples: Sample[] = [];

  add(sample: Sample): void {
    if (this.#samples.length < MAX_SAMPLES) this.#samples.push(sample);
  }

  clear(): void {
    if (this.#samples.length !== 0) this.#samples = [];
  }

  /** Those taken from `start` to `end`; together they stand for all of it. */
  within(start: number, end: number): WeightedSample[] {
    const inside = this.#samples.filter(({ time }) => time >= start && time <= end);
    const border = (i: number) => {
      if (i === 0) return start;
      if (i === inside.length) return end;
      return ((inside[i - 1] as Sample).time + (inside[i] as Sample).time) / 2;
    };
    return inside.map((sample, i) => ({ ...sample, weight: border(i + 1) - border(i) }));
  }
}
