// Promises: what a tool said, compared with what really happened. Where it reported twice, the
// better report counts.
import { median } from '../../tools/statistics.cjs';

/** Lengths are right within this, or within this share. */
const LENGTH_TOLERANCE_MILLIS = 2;
const LENGTH_TOLERANCE_SHARE = 0.02;

/**
 * @typedef {{ at: number, lengthMillis?: number, functionName?: string, traceId?: string }} Report
 * @typedef {{ label: string, isBlock: boolean, from: number, until: number, lengthMillis: number, mostMillis?: number, traceId?: string, blockingFunction?: string }} Truth
 *   `from` and `until`: in which time a report is about it. `mostMillis`: the length to the first tick after the work; the block ended no later.
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
    twice: count(({ reported }) => reported.length > 1),
    falsePositives: judged.reduce(
      (sum, { truth, reported }) => sum + (truth.isBlock ? 0 : reported.length),
      0,
    ),
    rightTrace: count(({ rightTrace }) => rightTrace),
    rightFunction: count(({ rightFunction }) => rightFunction),
    allRight: count((each) => each.allRight),
    lengthError:
      errors.length === 0 ? undefined : { median: median(errors), most: Math.max(...errors) },
    notRight: blocks
      .filter((each) => !each.allRight)
      .map(({ truth, reported }) => ({
        label: truth.label,
        lengthMillis: truth.lengthMillis,
        mostMillis: truth.mostMillis,
        blockingFunction: truth.blockingFunction,
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
  const rightFunction = reported.some(({ functionName }) =>
    isCalled(functionName, truth.blockingFunction),
  );
  const tolerance = Math.max(LENGTH_TOLERANCE_MILLIS, truth.lengthMillis * LENGTH_TOLERANCE_SHARE);
  const rightLength = lengthError !== undefined && lengthError <= tolerance;
  return {
    truth,
    reported,
    lengthError,
    rightTrace,
    rightFunction,
    allRight: reported.length === 1 && rightTrace && rightFunction && rightLength,
  };
}

/** From what the length can have been. */
function distance(
  /** @type {number} */ reported,
  /** @type {Truth} */ { lengthMillis, mostMillis = lengthMillis },
) {
  return Math.max(lengthMillis - reported, reported - mostMillis, 0);
}

/**
 * The last word counts: `Report.summarize`, `new Report` and `get average` have other names with
 * other tools.
 */
function isCalled(
  /** @type {string | undefined} */ name,
  /** @type {string | undefined} */ blockingFunction,
) {
  if (name === undefined || blockingFunction === undefined) return false;
  const last = (/** @type {string} */ text) => text.replace(/[<>]/g, '').split(/[. ]/).at(-1);
  return last(name) === last(blockingFunction);
}
