/** Which blocks of a test its baseline knows. */
import { writeSync } from 'node:fs';
import type { FunctionTime } from '../name/describe-code.ts';
import { duration } from '../report/block-line.ts';
import type { EventLoopBlock } from '../types.ts';
import { type Baseline, isLonger, type Places, type SeenPlaces } from './baseline.ts';
import { UPDATE_VARIABLE } from './options.ts';
import type { QuietLength } from './starvation.ts';
import type { TestName } from './test-name.ts';

const STDERR = 2;
/** A new function is found inside a known block if it has this much of it. */
const NEW_SHARE = 0.25;

/** A block, and all functions that another run of the same code could name it by. */
export interface RecordedBlock extends QuietLength {
  readonly block: EventLoopBlock;
  readonly functions: readonly FunctionTime[];
}

/** How what a test saw differs from what is known. */
export interface Difference {
  readonly change: 'new' | 'longer' | 'gone';
  readonly place: string;
  /** Absent if the place is gone. */
  readonly millis?: number;
  /** Absent if the place is new. */
  readonly knownMillis?: number;
}

/** What a baseline says of the blocks of a test. */
export interface Verdict {
  /** Those that it does not know. */
  readonly unknown: readonly EventLoopBlock[];
  /** One for each place; new ones first, then longer ones, then those that are gone. */
  readonly differences: readonly Difference[];
  readonly known: Places;
}

/** What was seen in this process, by baseline and test: a test may record more than once. */
const seenByTest = new Map<string, SeenPlaces>();
/** What has been listed as gone. */
const listed = new Set<string>();

export function judgeByBaseline(
  baseline: Baseline,
  test: TestName,
  recorded: readonly RecordedBlock[],
  seen: SeenPlaces,
  thresholdMillis: number,
): Verdict {
  const known = baseline.known(test.name);
  const judged = recorded.map((block) => ({
    block: block.block,
    differences: differencesOf(block, known, baseline, thresholdMillis),
  }));
  const failing = judged.filter(({ differences }) => differences.length > 0);
  const found = longestOf(failing.flatMap(({ differences }) => differences));
  // Another call of the same file may have what this one has not.
  const missing = test.isOfOneCall ? [...known].filter(([place]) => !seen.has(place)) : [];
  return {
    known,
    unknown: failing.map(({ block }) => block),
    differences: [
      ...found.filter(({ change }) => change === 'new'),
      ...found.filter(({ change }) => change === 'longer'),
      ...missing.map(([place, knownMillis]) => ({ change: 'gone' as const, place, knownMillis })),
    ],
  };
}

/** The first lines of the message of a test that fails. */
export function headlineOf(baseline: Baseline, test: TestName, { differences }: Verdict): string[] {
  return [
    `the event loop was blocked where ${baseline.shownPath} does not know it, in "${test.name}"`,
    '',
    ...differences.map(({ change, place, millis = 0, knownMillis = 0 }) => {
      if (change === 'new') return `  + ${place}: ${duration(millis)}, new`;
      const known = duration(knownMillis);
      return change === 'longer'
        ? `  ! ${place}: ${duration(millis)}, more than twice the known ${known}`
        : `  - ${place}: obsolete, known with ${known}`;
    }),
    '',
    `${UPDATE_VARIABLE}=true writes what blocks into the baseline`,
    '',
  ];
}

/** Lists what is gone on stderr, once for each place. */
export function listObsolete(baseline: Baseline, { name }: TestName, { differences }: Verdict) {
  const keyOf = ({ place }: Difference) => `${baseline.path}\n${name}\n${place}`;
  const fresh = differences.filter((one) => one.change === 'gone' && !listed.has(keyOf(one)));
  if (fresh.length === 0) return;
  for (const one of fresh) listed.add(keyOf(one));
  const lines = [
    `${baseline.shownPath}: obsolete in "${name}", ${UPDATE_VARIABLE}=true removes it`,
    ...fresh.map((one) => `  - ${one.place}: known with ${duration(one.knownMillis ?? 0)}`),
  ];
  try {
    writeSync(STDERR, `${lines.join('\n')}\n`);
  } catch {
    // A closed stderr.
  }
}

/** What the test has seen so far. */
export function seenIn(
  baseline: Baseline,
  test: TestName,
  recorded: readonly RecordedBlock[],
): SeenPlaces {
  const key = `${baseline.path}\n${test.name}`;
  const seen: SeenPlaces = seenByTest.get(key) ?? new Map();
  seenByTest.set(key, seen);
  for (const { block, functions, atMostMillis } of recorded) {
    const named = { place: block.code, millis: block.durationMillis };
    for (const { place: code, millis } of [...functions, named]) {
      const place = baseline.placeOf(code);
      const before = seen.get(place);
      seen.set(place, {
        millis: Math.max(before?.millis ?? 0, atMostMillis),
        share: Math.max(before?.share ?? 0, millis / block.durationMillis),
      });
    }
  }
  return seen;
}

/**
 * 1. The functions that are new: the one that the block is named by, and those that were on the
 *    stack for the threshold and for a good part of the block, not only as callers of another one.
 * 2. Without one, a block that is more than twice as long as all in which its function had a part.
 */
function differencesOf(
  { block, functions, atLeastMillis: lengthMillis }: RecordedBlock,
  known: ReadonlyMap<string, number>,
  baseline: Baseline,
  thresholdMillis: number,
): Difference[] {
  const place = baseline.placeOf(block.code);
  const toLength = lengthMillis / block.durationMillis;
  const least = Math.max(thresholdMillis, NEW_SHARE * lengthMillis);
  const others = functions
    .filter(({ apartMillis }) => apartMillis * toLength >= least)
    .map((ran) => ({ place: baseline.placeOf(ran.place), millis: ran.millis * toLength }));
  const added = [{ place, millis: lengthMillis }, ...others].filter((ran) => !known.has(ran.place));
  if (added.length > 0) return added.map((ran) => ({ change: 'new', ...ran }));
  const knownMillis = known.get(place) ?? 0;
  if (!isLonger(lengthMillis, knownMillis)) return [];
  return [{ change: 'longer', place, millis: lengthMillis, knownMillis }];
}

/** One for each place. */
function longestOf(differences: readonly Difference[]): Difference[] {
  const longest = new Map<string, Difference>();
  for (const difference of differences) {
    const { place, millis = 0 } = difference;
    if (millis > (longest.get(place)?.millis ?? 0)) longest.set(place, difference);
  }
  return [...longest.values()];
}
