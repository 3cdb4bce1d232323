/** Which blocks of a test are known to a baseline, and what the test is named in it. */
import { writeSync } from 'node:fs';
import { duration } from '../console/block-line.ts';
import { toPath } from '../support/file-url.ts';
import type { EventLoopBlock } from '../types.ts';
import { Baseline, type BaselineDiff, compare, isLonger, type Places, shown } from './baseline.ts';

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
const seenByTest = new Map<string, Places>();
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

/** @returns what the baseline does not know; undefined where it knows all, or was updated */
export async function judgeByBaseline(
  blocks: readonly EventLoopBlock[],
  file: string | URL,
  { name, updateBaseline = isUpdateAsked() }: BaselineOptions,
  callSite: Error,
): Promise<UnknownBlocks | undefined> {
  const baseline = new Baseline(file);
  const test = nameOfTest(baseline, name, callSite);
  const key = `${baseline.path}\n${test.name}`;
  const seen = seenByTest.get(key) ?? new Map();
  seenByTest.set(key, seen);
  const places = longestByPlace(baseline, blocks);
  for (const [place, millis] of places) seen.set(place, Math.max(seen.get(place) ?? 0, millis));
  if (updateBaseline) {
    await baseline.update(test.name, seen, test.isOfOneCall);
    return undefined;
  }
  const known = baseline.known(test.name);
  const { obsolete } = compare(seen, known);
  const failing = blocks.filter((block) => !isKnown(block, known.get(baseline.placeOf(block))));
  if (failing.length > 0) {
    const diff = { ...compare(places, known), obsolete };
    return { blocks: failing, headline: headlineOf(baseline, test, diff) };
  }
  if (test.isOfOneCall) listObsolete(baseline, test, obsolete);
  else listWhenAllIsSeen(baseline, test, seen);
  return undefined;
}

function longestByPlace(baseline: Baseline, blocks: readonly EventLoopBlock[]): Places {
  const places: Places = new Map();
  for (const block of blocks) {
    const place = baseline.placeOf(block);
    places.set(place, Math.max(places.get(place) ?? 0, block.durationMillis));
  }
  return places;
}

function isKnown({ durationMillis }: EventLoopBlock, knownMillis: number | undefined): boolean {
  return knownMillis !== undefined && !isLonger(durationMillis, knownMillis);
}

function headlineOf(baseline: Baseline, test: TestName, diff: BaselineDiff): string[] {
  const { added, longer } = diff;
  const obsolete = test.isOfOneCall ? diff.obsolete : [];
  return [
    `the event loop was blocked where ${shown(baseline.path)} does not know it, in "${test.name}"`,
    '',
    ...added.map(({ place, millis }) => `  + ${place}: ${duration(millis)}, new`),
    ...longer.map(
      ({ place, millis, knownMillis }) =>
        `  ! ${place}: ${duration(millis)}, more than twice the known ${duration(knownMillis)}`,
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
  obsolete: BaselineDiff['obsolete'],
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
function listWhenAllIsSeen(baseline: Baseline, test: TestName, seen: Places): void {
  const key = `${baseline.path}\n${test.name}`;
  if (listAtExit.size === 0) {
    process.once('exit', () => {
      for (const list of listAtExit.values()) list();
    });
  }
  listAtExit.set(key, () => {
    try {
      listObsolete(baseline, test, compare(seen, baseline.known(test.name)).obsolete);
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
