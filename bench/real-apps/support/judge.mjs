// Guarantees: each block is judged by what V8's profiler saw in it. What is right is
// 1. an agent, if its own code ran for half of the block;
// 2. else the place that the label of the case has, if it is on the stack for half of the block; it
//    is right in the first case, too, if it is the application's;
// 3. else the application's innermost function that is;
// 4. else the labelled function, which waits for it, or a package that the application depends on
//    itself, if it is on the stack for half of the block, or the function that loaded modules for
//    half of it: they can be loaded earlier;
// 5. else any package that is, but for the functions that a product calls everything through.
// A block that is a garbage collection needs no name: its cause must say so.
// Each label is checked by the profile of a launch without this package.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isInApp, isLabelled, isPartOf, packageOf, sourcePlace } from './places.mjs';
import { isAgent, Profile, Stacks, shorten } from './truth.mjs';

/** @typedef {import('./launch.mjs').Launch} Launch */
/** @typedef {import('./launch.mjs').Asked} Asked */
/** @typedef {import('./places.mjs').Place} Place */
/**
 * @typedef {'right' | 'near' | 'unclear' | 'misled' | 'none' | 'no CPU'} Verdict
 *   near: the application's, and on the stack for half of the block, but not the one to change;
 *   unclear: no function or package that could be right was on the stack for half of the block, and
 *   what is named was for a quarter, or is the label's: V8's profile does not see what awaits;
 *   no CPU: with its CPU time alone, the block would have been below the threshold
 * @typedef {'right' | 'wrong' | 'unknown' | 'several' | 'none needed'} Parent
 *   several: no parent, or that of a request beside it, where requests of several traces were sent
 *   at once
 * @typedef {{ name: string, round: number, millis: number, cpuMillis: number, verdict: Verdict,
 *   parent: Parent, place: string, cause?: string, gcMillis?: number, nativeMillis?: number,
 *   kind?: string, samples: number, idleMillis: number, stack?: string, top: string,
 *   labelled: number, truth: string }} Judged
 */

const HALF = 0.5;
const QUARTER = 0.25;
/** A stretch of the profile that is that much longer than the threshold must have been reported. */
const SURELY = 1.5;
/** Writes the profile at the end, which takes a while. */
const PROFILER = '/.real-apps/profile.cjs';

/**
 * @param {Launch} without
 * @param {Launch} measured
 * @param {string} folder of the application
 * @param {number} threshold
 * @param {string[]} [dispatchers]
 */
export function judge(without, measured, folder, threshold, dispatchers = []) {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const direct = Object.keys(dependencies);
  const profiles = measured.profiles.map((profile) => new Profile(profile, folder));
  const toMicros = (/** @type {number} */ unix) =>
    measured.clock.micros + (unix - measured.clock.unix) * 1000;
  /** @type {Judged[]} */
  const blocks = [];
  /** @type {string[]} */
  const outside = [];
  /** @type {string[]} */
  const invented = [];
  /** @type {{ from: number, until: number }[]} */
  const reported = [];
  for (const block of measured.blocks) {
    const {
      startTimeMillis: start,
      durationMillis: millis,
      code,
      cause,
      cpuTimeMillis = Number.POSITIVE_INFINITY,
      samples,
    } = block;
    const ranAtMost = measured.runTimes.atMost(block.pid, start, start + millis);
    const cpuMillis = Math.min(cpuTimeMillis, ranAtMost);
    const period = { from: toMicros(start), until: toMicros(start + millis) };
    reported.push(period);
    if (start < measured.readyUnix || code?.file?.endsWith(PROFILER)) continue;
    // By its end, which is exact: with the profiler's signals, libuv does not count a wait, and a
    // block may begin some milliseconds before its request came (docs/limits.md).
    const end = start + millis;
    const asked = measured.asked.find(
      ({ fromUnix, untilUnix }) => end >= fromUnix && end < untilUnix,
    );
    const place = placeOf(block);
    const text = place
      ? `${code.functionName} (${shorten(place.file, folder)}:${code.line ?? '?'})`
      : 'no name';
    const truth =
      profiles.find(({ pid }) => pid === block.pid)?.between(period.from, period.until) ??
      new Stacks([], folder);
    const line = `${millis.toFixed(0)} ms (CPU ${cpuMillis.toFixed(0)}) ${text} ${cause ?? ''}; ${truth.describe()}`;
    const starved = cpuMillis < threshold;
    if (truth.idleMillis >= millis * HALF && !starved)
      invented.push(`${asked?.case.name}: ${line}`);
    if (asked === undefined) {
      outside.push(line);
      continue;
    }
    blocks.push({
      name: asked.case.name,
      round: asked.round,
      millis,
      cpuMillis,
      verdict: starved
        ? 'no CPU'
        : verdictOn(place, cause, asked.case.right, truth, direct, dispatchers),
      parent: starved ? 'none needed' : parentOf(block, asked, truth),
      place: text,
      cause,
      gcMillis: block.gcTimeMillis,
      nativeMillis: block.nativeTimeMillis,
      kind: block.kind,
      samples,
      idleMillis: truth.idleMillis,
      stack: code?.stackTrace,
      top: (block.topFunctions ?? [])
        .map(
          (/** @type {any} */ { functionName, share }) =>
            `${functionName} ${Math.round(share * 100)}%`,
        )
        .join(', '),
      labelled: truth.shareOfLabel(asked.case.right),
      truth: truth.describe(),
    });
  }
  const missed = measured.asked.flatMap((asked) =>
    profiles.flatMap((profile) =>
      profile
        .stretches(asked.fromMicros, asked.untilMicros, threshold * SURELY)
        // The loop may turn in a stretch without the application's code.
        .filter(({ application }) => application.length > 0)
        .filter(
          (stretch) =>
            !reported.some(({ from, until }) => from < stretch.until && until > stretch.from),
        )
        .map(
          (stretch) =>
            `${asked.case.name} ${asked.round}: ${stretch.millis.toFixed(0)} ms, ${stretch.describe()}`,
        ),
    ),
  );
  return {
    blocks,
    badLabels: checkLabels(without, folder, threshold),
    outside,
    invented,
    missed,
    differences: differences(without, measured),
  };
}

/** @returns {Place | undefined} */
function placeOf(/** @type {any} */ { code }) {
  if (code === undefined) return undefined;
  const { functionName, file = '', line, column, functionLine, functionColumn } = code;
  return sourcePlace(functionName, file, line ?? functionLine ?? 0, column ?? functionColumn ?? 0);
}

/** @returns {Verdict} */
export function verdictOn(
  /** @type {Place | undefined} */ place,
  /** @type {string | undefined} */ cause,
  /** @type {import('./launch.mjs').Label | import('./launch.mjs').Label[]} */ label,
  /** @type {Stacks} */ truth,
  /** @type {string[]} */ direct,
  /** @type {string[]} */ dispatchers,
) {
  const passesOn = (/** @type {Place} */ { file }) =>
    dispatchers.some((name) => isPartOf(file, name));
  if (cause === 'gc' && isCollection(place, truth)) return 'right';
  if (place === undefined) return 'none';
  const { folder, application } = truth;
  const isRight = isLabelled(label, place, folder);
  if (truth.shareOfAgent >= HALF)
    return asVerdict(isAgent(place.file) || (isRight && application.length > 0));
  // V8's profile has the time of an inlined function at its caller.
  const isInlined = isRight && application[0]?.file === place.file;
  if (truth.shareOfLabel(label) >= HALF || isInlined) {
    if (isRight) return 'right';
  } else if (application.length > 0) {
    if (isSame(place, application[0])) return 'right';
  } else if (isRight && isInApp(place.file, folder)) {
    return 'right';
  } else {
    const ran = (/** @type {string | undefined} */ name) =>
      truth.share((path) =>
        path.some((each) => packageOf(each.file) === name && !passesOn(each)),
      ) >= HALF;
    if (truth.share((path) => isLoadedBy(place, path)) >= HALF) return 'right';
    const own = direct.filter(ran);
    const named = packageOf(place.file);
    if (own.length > 0) return asVerdict(own.includes(named ?? ''));
    if (passesOn(place)) return 'misled';
    if (named !== undefined && ran(named)) return 'right';
    const isQuarter = truth.share((path) => path.some((each) => isSame(place, each))) >= QUARTER;
    return (isQuarter || isRight) && !truth.packages.some(ran) ? 'unclear' : 'misled';
  }
  return isInApp(place.file, folder) && application.some((each) => isSame(place, each))
    ? 'near'
    : 'misled';
}

/**
 * V8's profiler tells collections from native code, and not the freeing of what they collected:
 * that has no JavaScript at all. A stack sample of this package's own comes after it.
 */
const isCollection = (/** @type {unknown} */ place, /** @type {Stacks} */ truth) =>
  truth.shareOfCollection >= HALF ||
  (place === undefined && truth.codeMillis <= truth.millis * HALF);

/** Whether the place, or what it called in its own package, called `require()`. */
function isLoadedBy(/** @type {Place} */ place, /** @type {Place[]} */ path) {
  const at = path.findIndex((each) => isSame(place, each));
  const inside = path.slice(0, Math.max(0, at)).reverse();
  const called = inside.find(({ file }) => packageOf(file) !== packageOf(place.file));
  return called !== undefined && isLoader(called);
}

const isLoader = (/** @type {Place} */ { file }) =>
  file.startsWith('node:internal/modules/') || packageOf(file) === 'require-in-the-middle';

const asVerdict = (/** @type {boolean} */ isRight) =>
  /** @type {Verdict} */ (isRight ? 'right' : 'misled');

/** By name: the line that is reported is inside of the function. */
export const isSame = (/** @type {Place} */ reported, /** @type {Place} */ { name, file }) =>
  reported.file === file &&
  (name === '' || name.split(/[. ]/).at(-1) === reported.name.split(/[. ]/).at(-1));

/** @returns {Parent} what an agent does for itself is in nobody's request */
function parentOf(
  /** @type {any} */ block,
  /** @type {Asked} */ asked,
  /** @type {Stacks} */ truth,
) {
  const isNobodys = block.code === undefined && truth.shareOfCollection >= HALF;
  const isFreeing = block.cause === 'gc' && isCollection(block.code, truth);
  if (asked.case.parent === false || isNobodys || isFreeing) return 'none needed';
  const isAgents = truth.application.length === 0 && truth.shareOfAgent >= HALF;
  const isInGraph =
    truth.share((path) => path.some(({ file }) => file.startsWith(truth.folder))) >= HALF;
  if (isAgents && !isInGraph) return block.traceId === undefined ? 'right' : 'wrong';
  const { traceIds, otherIds } = asked;
  if (traceIds.includes(block.traceId)) return 'right';
  const isOthers = otherIds.length > 0 && truth.shareOfLabel(asked.case.right) < HALF;
  if (isOthers && otherIds.includes(block.traceId)) return 'several';
  if (block.traceId !== undefined) return 'wrong';
  return (isOthers || traceIds.length > 1) && block.kind !== 'callback' ? 'several' : 'unknown';
}

/**
 * @returns {string[]} labels that V8's profiler does not agree with, in any round: it loses samples
 *   in which only a built-in runs
 */
function checkLabels(
  /** @type {Launch} */ { asked: all, profiles },
  /** @type {string} */ folder,
  /** @type {number} */ threshold,
) {
  const read = profiles.map((profile) => new Profile(profile, folder));
  /** @type {Map<string, string[]>} */
  const doubts = new Map();
  /** @type {Set<string>} */
  const agreed = new Set();
  for (const asked of all) {
    const { name, right } = asked.case;
    const stretches = read.flatMap((profile) =>
      profile.stretches(asked.fromMicros, asked.untilMicros, threshold / 2),
    );
    const stacks = new Stacks(
      stretches.flatMap(({ samples }) => samples),
      folder,
    );
    const share = stacks.shareOfLabel(right);
    const isLong = stretches.some(({ millis }) => millis >= threshold);
    if (isLong && share >= HALF) agreed.add(name);
    const percent = Math.round(share * 100);
    const doubt = `${percent} % of ${stacks.millis.toFixed(0)} ms; ${stacks.describe()}`;
    doubts.set(name, [...(doubts.get(name) ?? []), doubt]);
  }
  return [...doubts]
    .filter(([name]) => !agreed.has(name))
    .map(([name, texts]) => `${name}: ${texts.join(' | ')}`);
}

/** What an application did otherwise than without the package. */
function differences(/** @type {Launch} */ without, /** @type {Launch} */ measured) {
  const found = [];
  measured.asked.forEach((asked, i) => {
    if (!asked.case.varies && asked.answers !== without.asked[i]?.answers)
      found.push(`${asked.case.name}: answered ${asked.answers}, not ${without.asked[i]?.answers}`);
  });
  if (without.exit !== measured.exit) found.push(`exit ${measured.exit}, not ${without.exit}`);
  for (const stream of /** @type {const} */ (['stdout', 'stderr'])) {
    const [before, after] = [without, measured].map((each) => normalize(each[stream]));
    if (before !== after)
      found.push(`${stream}: ${after.slice(0, 1500)}\n  not: ${before.slice(0, 1500)}`);
  }
  return found;
}

/** Numbers, which are times, ports and process ids, are never the same. */
const normalize = (/** @type {string} */ text) =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal
    .replace(/\u001b\[[0-9;]*m/g, '')
    .replace(/real-apps-\w+/g, 'real-apps')
    .replace(/[\d.:]+ ?(?:ms|s\b)?/g, '#');
