// Guarantees: what a tool reported, held against what really happened. Of two reports, the better
// counts.
import { median } from '../../tools/statistics.cjs';

/** Lengths are right within this, or within this share. */
const LENGTH_TOLERANCE_MILLIS = 2;
const LENGTH_TOLERANCE_SHARE = 0.02;
const NAMELESS = new Set(['?', '<anonymous>', 'anonymous']);

/**
 * @typedef {{ names: string[], file: string, lines?: [number, number], line?: number }} Place
 * @typedef {{ at: number, lengthMillis?: number, functionName?: string, file?: string,
 *   line?: number, cause?: string, loads?: string, traceId?: string }} Report
 * @typedef {{ label: string, isBlock: boolean, from: number, until: number,
 *   lengthMillis: number, mostMillis?: number, traceId?: string, group?: string, wanted?: Place,
 *   cause?: string, loads?: string }} Truth
 *   `from` and `until`: in which time a report is about it. `mostMillis`: the length to the first
 *   tick after the work; the block ended no later.
 */

/**
 * @param {Truth[]} truths
 * @param {Report[]} reports
 */
export function score(truths, reports) {
  const judged = truths.map((truth) => judge(truth, reports));
  const blocks = judged.filter(({ truth }) => truth.isBlock);
  const found = blocks.filter(({ reported }) => reported.length > 0);
  const errors = found.map(({ lengthError }) => lengthError).filter((error) => error !== undefined);
  const count = (/** @type {(each: ReturnType<typeof judge>) => boolean} */ is) =>
    blocks.filter(is).length;
  return {
    blocks: blocks.length,
    found: found.length,
    missed: blocks.length - found.length,
    reportedTwice: count(({ reported }) => reported.length > 1),
    falsePositives: judged.reduce(
      (sum, { truth, reported }) => sum + (truth.isBlock ? 0 : reported.length),
      0,
    ),
    rightTrace: count(({ rightTrace }) => rightTrace),
    rightPlace: count(({ rightPlace }) => rightPlace),
    groups: groupsOf(blocks),
    allRight: count((each) => each.allRight),
    lengthError:
      errors.length === 0 ? undefined : { median: median(errors), most: Math.max(...errors) },
    notRight: blocks
      .filter((each) => !each.allRight)
      .map(({ truth, reported, rightPlace }) => ({
        label: truth.label,
        lengthMillis: truth.lengthMillis,
        mostMillis: truth.mostMillis,
        wanted: truth.wanted,
        rightPlace,
        reported,
      })),
  };
}

function judge(/** @type {Truth} */ truth, /** @type {Report[]} */ reports) {
  const reported = reports.filter(({ at }) => at >= truth.from && at < truth.until);
  const errors = reported
    .filter(({ lengthMillis }) => lengthMillis !== undefined)
    .map(({ lengthMillis }) => distance(Number(lengthMillis), truth));
  const lengthError = errors.length === 0 ? undefined : Math.min(...errors);
  const rightTrace = reported.some(
    ({ traceId }) => traceId !== undefined && traceId === truth.traceId,
  );
  const rightPlace = reported.some((report) => isRight(report, truth));
  const tolerance = Math.max(LENGTH_TOLERANCE_MILLIS, truth.lengthMillis * LENGTH_TOLERANCE_SHARE);
  const rightLength = lengthError !== undefined && lengthError <= tolerance;
  return {
    truth,
    reported,
    lengthError,
    rightTrace,
    rightPlace,
    allRight: reported.length === 1 && rightTrace && rightPlace && rightLength,
  };
}

/** From what the length can have been. */
function distance(
  /** @type {number} */ reported,
  /** @type {Truth} */ { lengthMillis, mostMillis = lengthMillis },
) {
  return Math.max(lengthMillis - reported, reported - mostMillis, 0);
}

/** How many of each group are named right. */
function groupsOf(/** @type {ReturnType<typeof judge>[]} */ blocks) {
  /** @type {Record<string, { blocks: number, rightPlace: number }>} */
  const groups = {};
  for (const { truth, rightPlace } of blocks) {
    const name = truth.group ?? '';
    groups[name] ??= { blocks: 0, rightPlace: 0 };
    groups[name].blocks++;
    if (rightPlace) groups[name].rightPlace++;
  }
  return groups;
}

/** What a tool is not made to tell (file, line, cause, module) is not held against it. */
function isRight(/** @type {Report} */ report, /** @type {Truth} */ { wanted, cause, loads }) {
  if (wanted === undefined || report.functionName === undefined) return false;
  const { file, line } = report;
  return (
    (file === undefined || isSameFile(file, wanted.file)) &&
    (isCalled(report.functionName, wanted.names) || isNamelessIn(report, wanted)) &&
    (line === undefined || wanted.line === undefined || line === wanted.line) &&
    (report.cause === undefined || cause === undefined || report.cause === cause) &&
    (file === undefined || loads === undefined || isInPackage(report.loads, loads))
  );
}

const isSameFile = (/** @type {string} */ a, /** @type {string} */ b) =>
  a.replace('file://', '') === b;

const isInPackage = (/** @type {string | undefined} */ file, /** @type {string} */ name) =>
  file?.includes(`/node_modules/${name}/`) === true;

/** A function without a name inside of the one that is looked for: its line says where it is. */
function isNamelessIn(
  /** @type {Report} */ { functionName, line },
  /** @type {Place} */ { lines },
) {
  if (!NAMELESS.has(String(functionName)) || lines === undefined || line === undefined)
    return false;
  return line >= lines[0] && line <= lines[1];
}

/**
 * The last word counts: `Report.summarize`, `new Report` and `get average` have other names with
 * other tools.
 */
function isCalled(/** @type {string} */ name, /** @type {string[]} */ names) {
  const last = (/** @type {string} */ text) => text.replace(/[<>]/g, '').split(/[. ]/).at(-1);
  return names.some((wanted) => last(name) === last(wanted));
}
