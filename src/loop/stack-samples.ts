/** The stack samples of the running busy period. */
import type { StackSample, WeightedSample } from '../block.ts';

/** The watchdog asks for some 20 in one busy period; more can only come from a bug. */
const MAX_SAMPLES = 64;

export class StackSamples {
  #samples: StackSample[] = [];

  add(sample: StackSample): void {
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
      return ((inside[i - 1] as StackSample).time + (inside[i] as StackSample).time) / 2;
    };
    return inside.map((sample, i) => ({ ...sample, weight: border(i + 1) - border(i) }));
  }
}
