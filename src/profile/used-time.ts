/**
 * For how long the loop was busy over the last minutes, and what used it, by the samples of the
 * loop profile.
 *
 * Guarantees: memory of a fixed size; shares of all samples in the period add up to 1, unknown code
 * included.
 */
import { keyOf } from '../name/key.ts';
import type { Operation } from '../otel/operation.ts';
import { MAX_PROFILE_WINDOW_MILLIS } from '../profile-window.ts';
import type { CodePlace, LoopFunction, LoopOperation, LoopProfile } from '../types.ts';

/** Those of {@link MAX_PROFILE_WINDOW_MILLIS}, the closer ones at its beginning included. */
const MAX_SAMPLES = 2048;
/** How far apart the loop's idle time is noted, at least. */
const READING_MILLIS = 1000;
const MAX_READINGS = MAX_PROFILE_WINDOW_MILLIS / READING_MILLIS + 1;
const MAX_GIVEN = 50;

export interface UsedPlace {
  readonly code?: CodePlace;
  readonly nativeCall?: string;
}

export interface UsedTime extends UsedPlace {
  /** When it was sampled, a time of the clock. */
  readonly time: number;
  /** Milliseconds of the loop's time that the sample stands for. */
  readonly millis: number;
  readonly operation: Operation;
}

export class UsedTimes {
  #samples: UsedTime[] = [];
  #readings: { readonly time: number; readonly idle: number }[] = [];

  add(sample: UsedTime): void {
    if (this.#samples.length === MAX_SAMPLES) this.#samples.splice(0, MAX_SAMPLES / 2);
    this.#samples.push(sample);
  }

  /** @param idle for how long the loop has waited for events by `time` */
  note(time: number, idle: number): void {
    const latest = this.#readings.at(-1);
    if (latest !== undefined && time - latest.time < READING_MILLIS) return;
    if (this.#readings.length === MAX_READINGS) this.#readings.shift();
    this.#readings.push({ time, idle });
  }

  clear(): void {
    this.#samples = [];
    this.#readings = [];
  }

  /** @param more samples that may still become better known */
  read(
    now: number,
    idle: number,
    windowMillis: number,
    more: readonly UsedTime[] = [],
  ): LoopProfile {
    const from = now - windowMillis;
    const since = this.#readings.find(({ time }) => time >= from) ?? { time: now, idle };
    const samples = [...this.#samples, ...more].filter(({ time }) => time >= since.time);
    const elapsedMillis = now - since.time;
    const busy = elapsedMillis - (idle - since.idle);
    return {
      elapsedMillis,
      utilization: elapsedMillis > 0 ? Math.min(1, Math.max(0, busy / elapsedMillis)) : 0,
      samples: samples.length,
      functions: sharesOf(samples, functionKey, functionOf),
      operations: sharesOf(samples, operationKey, operationOf),
    };
  }
}

function sharesOf<Given extends object>(
  samples: readonly UsedTime[],
  keyOfSample: (sample: UsedTime) => string,
  given: (sample: UsedTime) => Given,
): (Given & { readonly share: number })[] {
  const byKey = new Map<string, { first: UsedTime; millis: number }>();
  let total = 0;
  for (const sample of samples) {
    total += sample.millis;
    const key = keyOfSample(sample);
    const known = byKey.get(key);
    if (known === undefined) byKey.set(key, { first: sample, millis: sample.millis });
    else known.millis += sample.millis;
  }
  return [...byKey.values()]
    .sort((a, b) => b.millis - a.millis)
    .slice(0, MAX_GIVEN)
    .map(({ first, millis }) => ({ ...given(first), share: millis / total }));
}

const functionKey = ({ code, nativeCall = '' }: UsedTime) =>
  code === undefined ? nativeCall : `${nativeCall}\n${keyOf(code)}`;

const functionOf = ({ code, nativeCall }: UsedTime): Omit<LoopFunction, 'share'> => ({
  ...code,
  ...(nativeCall !== undefined && { nativeCall }),
});

const operationKey = ({ operation: { name = '', httpRoute = '' } }: UsedTime) =>
  `${httpRoute}\n${name}`;

const operationOf = ({ operation }: UsedTime): Omit<LoopOperation, 'share'> => operation;
