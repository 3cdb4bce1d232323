/** Which blocks of a test are known to a baseline, and what the test is named in it. */
import { writeSync } from 'node:fs';
import { duration } from '../console/block-line.ts';
import { toPath } from '../support/file-url.ts';
import type { EventLoopBlock } from '../types.ts';
import {
  Baseline,
  isLonger,
  type Places,
  type RecordedBlock,
  type SeenPlaces,
  shown,
} from './baseline.ts';

/** Has `expectNoBlocks` write what blocks into the baseline, where it is `true`. */
export const UPDATE_VARIABLE = 'OTEL_INSTRUMENTATION_EVENT_LOOP_UPDATE_BASELINE';

const STDERR = 2;

export interface BaselineOptions {
  /**
   * File of known blocks, to be committed; a path starts at the working directory. Blocks of a
   * place that is not in it, and blocks more than twice as long as it has them, fail the test. It
   * is written where the environment variable `OTEL_INSTRUMENTATION_EVENT_LOOP_UPDATE_BASELINE` is
   * `true`.
   */
  baseline?: string | URL;
  /**
   * What the blocks of this call stand under in the baseline.
   * @default file and name of the test, under jest and under vitest with globals, else the file of
   *   the caller
   */
  name?: string;
  /**
   * Writes what blocks into the baseline, and does not fail.
   * @default what the environment variable says, else `false`
   */
  updateBaseline?: boolean;
}

/** A function that is new is found inside a known block if it has this much of it. */
const NEW_SHARE = 0.25;

interface TestName {
  readonly name: string;
  /** No other call has it: what this one has not seen is gone. */
  readonly isOfOneCall: boolean;
}

/** What failed, for the message. */
export interface UnknownBlocks {
  readonly blocks: readonly EventLoopBlock[];
  readonly headline: readonly string[];
}

/** What was seen in this process, by baseline and test. */
const seenByTest = new Map<string, SeenPlaces>();
/** What has been listed, or is listed when the process exits, as obsolete. */
const listed = new Set<string>();
const listAtExit = new Map<string, () => void>();

/** @throws TypeError or RangeError where an option, or the environment variable, is wrong */
export function checkBaselineOptions({ baseline, name, updateBaseline }: BaselineOptions): void {
  const bad = (option: string, expected: string) =>
    new TypeError(`expectNoBlocks: option ${option} must be ${expected}`);
  if (baseline !== undefined && typeof baseline !== 'string' && !(baseline instanceof URL))
    throw bad('baseline', 'a path or a file URL');
  if (name !== undefined && typeof name !== 'string') throw bad('name', 'a string');
  if (updateBaseline !== undefined && typeof updateBaseline !== 'boolean')
    throw bad('updateBaseline', 'true or false');
  if (baseline !== undefined) isUpdateAsked();
}

/** How a block differs from what is known. */
interface Difference {
  readonly place: string;
  readonly millis: number;
  /** Absent if the place is new. */
  readonly knownMillis?: number;
}

/** A place that is known, and was not seen. */
interface Obsolete {
  readonly place: string;
  readonly knownMillis: number;
}

interface Judged {
  readonly thresholdMillis: number;
}

/** @returns what the baseline does not know; undefined where it knows all, or was updated */
export async function judgeByBaseline(
  recorded: readonly RecordedBlock[],
  file: string | URL,
  { name, updateBaseline = isUpdateAsked(), thresholdMillis }: BaselineOptions & Judged,
  callSite: Error,
): Promise<UnknownBlocks | undefined> {
  const baseline = new Baseline(file);
  const test = nameOfTest(baseline, name, callSite);
  const key = `${baseline.path}\n${test.name}`;
  const seen = seenByTest.get(key) ?? new Map();
  seenByTest.set(key, seen);
  for (const block of recorded) addPlaces(seen, baseline, block);
  if (updateBaseline) {
    await baseline.update(test.name, seen, test.isOfOneCall);
    return undefined;
  }
  const known = baseline.known(test.name);
  const obsolete = obsoleteIn(known, seen);
  const judged = recorded.map((block) => ({
    block: block.block,
    differences: differencesOf(block, known, baseline, thresholdMillis),
  }));
  const failing = judged.filter(({ differences }) => differences.length > 0);
  if (failing.length > 0) {
    const differences = longestOf(failing.flatMap((block) => block.differences));
    const headline = headlineOf(baseline, test, differences, test.isOfOneCall ? obsolete : []);
    return { blocks: failing.map(({ block }) => block), headline };
  }
  if (test.isOfOneCall) listObsolete(baseline, test, obsolete);
  else listWhenAllIsSeen(baseline, test, seen);
  return undefined;
}

function addPlaces(seen: SeenPlaces, baseline: Baseline, recorded: RecordedBlock) {
  const { block, functions } = recorded;
  const length = lengthOf(recorded);
  const add = (place: string, share: number) => {
    const before = seen.get(place);
    seen.set(place, {
      millis: Math.max(before?.millis ?? 0, length),
      share: Math.max(before?.share ?? 0, share),
    });
  };
  for (const { place, millis } of functions)
    add(baseline.placeOf(place), millis / block.durationMillis);
  add(baseline.placeOf(block.code), 1);
}

/** Other processes on the machine make no block longer. */
function lengthOf({ block, runDelayMillis }: RecordedBlock): number {
  return block.durationMillis - runDelayMillis;
}

/**
 * 1. The functions that are new: the one that the block is named by, and those that were on the
 *    stack for the threshold and for a good part of the block.
 * 2. Without one, a block that is more than twice as long as all in which its function had a part.
 */
function differencesOf(
  recorded: RecordedBlock,
  known: Places,
  baseline: Baseline,
  thresholdMillis: number,
): Difference[] {
  const { code, durationMillis } = recorded.block;
  const place = baseline.placeOf(code);
  const least = Math.max(thresholdMillis, NEW_SHARE * durationMillis);
  const others = recorded.functions
    .filter(({ millis }) => millis >= least)
    .map((ran) => ({ place: baseline.placeOf(ran.place), millis: ran.millis }));
  const added = [{ place, millis: durationMillis }, ...others].filter(
    (ran) => !known.has(ran.place),
  );
  if (added.length > 0) return added;
  const millis = lengthOf(recorded);
  const knownMillis = known.get(place) ?? 0;
  return isLonger(millis, knownMillis) ? [{ place, millis, knownMillis }] : [];
}

/** One for each place; those that are new come first. */
function longestOf(differences: readonly Difference[]): Difference[] {
  const longest = new Map<string, Difference>();
  for (const difference of differences) {
    const { place, millis } = difference;
    if (millis > (longest.get(place)?.millis ?? 0)) longest.set(place, difference);
  }
  const isNew = ({ knownMillis }: Difference) => knownMillis === undefined;
  const all = [...longest.values()];
  return [...all.filter(isNew), ...all.filter((difference) => !isNew(difference))];
}

function obsoleteIn(known: Places, seen: SeenPlaces): Obsolete[] {
  return [...known]
    .filter(([place]) => !seen.has(place))
    .map(([place, knownMillis]) => ({ place, knownMillis }));
}

function headlineOf(
  baseline: Baseline,
  test: TestName,
  differences: readonly Difference[],
  obsolete: readonly Obsolete[],
): string[] {
  return [
    `the event loop was blocked where ${shown(baseline.path)} does not know it, in "${test.name}"`,
    '',
    ...differences.map(({ place, millis, knownMillis }) =>
      knownMillis === undefined
        ? `  + ${place}: ${duration(millis)}, new`
        : `  ! ${place}: ${duration(millis)}, more than twice the known ${duration(knownMillis)}`,
    ),
    ...obsolete.map(
      ({ place, knownMillis }) => `  - ${place}: obsolete, known with ${duration(knownMillis)}`,
    ),
    '',
    `${UPDATE_VARIABLE}=true writes what blocks into the baseline`,
    '',
  ];
}

/** Once for each place. */
function listObsolete(
  baseline: Baseline,
  { name, isOfOneCall }: TestName,
  obsolete: readonly Obsolete[],
): void {
  const fresh = obsolete.filter(({ place }) => !listed.has(`${baseline.path}\n${name}\n${place}`));
  if (fresh.length === 0) return;
  for (const { place } of fresh) listed.add(`${baseline.path}\n${name}\n${place}`);
  const how = isOfOneCall ? `${UPDATE_VARIABLE}=true removes it` : 'to be removed by hand';
  const lines = [
    `${shown(baseline.path)}: obsolete in "${name}", ${how}`,
    ...fresh.map(({ place, knownMillis }) => `  - ${place}: known with ${duration(knownMillis)}`),
  ];
  try {
    writeSync(STDERR, `${lines.join('\n')}\n`);
  } catch {
    // A closed stderr.
  }
}

/** Another call of the same file may have what this one has not. */
function listWhenAllIsSeen(baseline: Baseline, test: TestName, seen: SeenPlaces): void {
  const key = `${baseline.path}\n${test.name}`;
  if (listAtExit.size === 0) {
    process.once('exit', () => {
      for (const list of listAtExit.values()) list();
    });
  }
  listAtExit.set(key, () => {
    try {
      listObsolete(baseline, test, obsoleteIn(baseline.known(test.name), seen));
    } catch {
      // The file has been removed, or is being edited.
    }
  });
}

function isUpdateAsked(): boolean {
  const text = process.env[UPDATE_VARIABLE]?.trim().toLowerCase() ?? '';
  if (text === '' || text === 'false') return false;
  if (text === 'true') return true;
  throw new RangeError(`${UPDATE_VARIABLE} is ${JSON.stringify(text)}, expected true or false`);
}

function nameOfTest(baseline: Baseline, name: string | undefined, callSite: Error): TestName {
  if (name !== undefined) return { name, isOfOneCall: true };
  const { currentTestName, testPath } = stateOfRunner();
  const file = typeof testPath === 'string' ? testPath : callerOf(callSite);
  const folder = file === undefined ? [] : [baseline.relative(file)];
  if (typeof currentTestName !== 'string')
    return { name: folder[0] ?? 'tests', isOfOneCall: false };
  return { name: [...folder, currentTestName].join(' > '), isOfOneCall: true };
}

/** jest has `expect` as a global, and vitest where its `globals` are on. */
function stateOfRunner(): { currentTestName?: unknown; testPath?: unknown } {
  const { expect } = globalThis as { expect?: { getState?: () => object } };
  try {
    return expect?.getState?.() ?? {};
  } catch {
    return {};
  }
}

const FRAME = /^\s*at (?:async )?(?:.*\()?(.+?):\d+:\d+\)?$/;

function callerOf({ stack = '' }: Error): string | undefined {
  const frame = stack.split('\n').find((line) => FRAME.test(line));
  const [, file] = FRAME.exec(frame ?? '') ?? [];
  return file && toPath(file);
}
