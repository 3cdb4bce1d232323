// Guarantees: the service's ledger compared with what the telemetry said, check by check.
import { median } from '../../tools/statistics.cjs';
import limits from './limits.cjs';

/**
 * @typedef {{ start: number, millis: number }} Interval milliseconds of Unix time, milliseconds
 * @typedef {Interval & { kind: string, traceId?: string, wallStart: number,
 *   cpuMillis: number }} Truth
 * @typedef {Interval & { kind: string, traceId: string }} Reported
 * @typedef {{ at: number, heapUsed: number, rss: number, handles: number, threads: number }} Memory
 * @typedef {{ name: string, limit: string, measured: string, holds: boolean,
 *   examples?: unknown[] }} Check
 */

/**
 * Spans are placed by the wall clock, the ledger by the monotonic one: they may be this far apart,
 * and suspensions mean the same.
 */
const SEARCH_MILLIS = 20;
const ENOUGH_EXAMPLES = 5;

/**
 * Whether a block says nothing of this package: the machine gave the process no CPU for so long
 * that for it the process stood suspensions, which is no block; or it became shorter than was asked
 * for.
 */
function isInDoubt(/** @type {Truth} */ truth, /** @type {Interval[]} */ suspensions) {
  const { kind, millis, cpuMillis } = truth;
  const suspended = sum(suspensions.map((each) => overlap(each, truth)));
  const withoutCpu = kind === 'execFileSync' ? suspended : Math.max(suspended, millis - cpuMillis);
  return millis - withoutCpu < limits.CLEAR_MILLIS || withoutCpu >= limits.THRESHOLD_MILLIS / 2;
}

/**
 * @param {{ truths: Truth[], reported: Reported[], delays: Interval[], suspensions: Interval[],
 *   memory: Memory[] }} ledger
 * @returns {{ checks: Check[], notJudged: number }}
 */
export function verdict({ truths, reported, delays, suspensions, memory }) {
  const offset = median(truths.map(({ start, wallStart }) => start - wallStart));
  /** By the wall clock, as spans are. */
  const real = truths.map((truth) => ({ ...truth, start: truth.start - offset }));
  const witnessed = [...real, ...delays.map((each) => ({ ...each, start: each.start - offset }))];

  const stopped = suspensions.map((each) => ({ ...each, start: each.start - offset }));
  const clear = real.filter((truth) => !isInDoubt(truth, stopped));
  const judged = clear.map((truth) => ({
    truth,
    about: reported.filter((block) => overlap(block, truth) > tolerance(truth)),
  }));
  const lost = judged.filter(
    ({ truth, about }) =>
      truth.millis - sum(about.map((block) => overlap(block, truth))) > SEARCH_MILLIS,
  );
  const short = judged.filter(
    ({ truth, about }) => truth.millis - sum(about.map(({ millis }) => millis)) > tolerance(truth),
  );
  const wrongTrace = judged.filter(
    ({ truth, about }) => about.length === 1 && about[0].traceId !== truth.traceId,
  );
  const twice = pairs(reported).filter(([a, b]) => overlap(a, b) > 1);
  const unexplained = reported.filter((block) => {
    const explained = witnessed.reduce((most, each) => most + overlap(block, each), 0);
    return block.millis - explained >= limits.THRESHOLD_MILLIS / 2;
  });

  const checks = [
    check('blocks lost', 'none', lost.length, lost),
    check('blocks reported too short', 'none', short.length, short),
    check('false positives', 'none', unexplained.length, unexplained),
    check('milliseconds reported twice', 'none', twice.length, twice),
    // A pile-up has many callbacks, of which those of the load may be the larger part.
    check('blocks on the wrong trace', 'none', wrongTrace.length, wrongTrace),
    flatness(memory),
    ...drift(judged),
  ];
  return { checks, notJudged: real.length - clear.length };
}

function flatness(/** @type {Memory[]} */ memory) {
  const heap = memory.map(({ heapUsed }) => heapUsed);
  const growth = median(quarter(heap, 3)) - median(quarter(heap, 1));
  return {
    name: 'heap, from the second quarter to the last',
    limit: `at most +${(limits.MAX_HEAP_GROWTH_BYTES / 2 ** 20).toFixed(1)} MiB`,
    measured: `${growth >= 0 ? '+' : ''}${(growth / 2 ** 20).toFixed(2)} MiB`,
    holds: growth <= limits.MAX_HEAP_GROWTH_BYTES,
  };
}

/** Only of blocks whose start is known exactly: one synchronous run, reported once. */
function drift(/** @type {{ truth: Truth, about: Reported[] }[]} */ judged) {
  const offsets = judged
    .filter(
      ({ truth, about }) =>
        about.length === 1 &&
        about[0].kind === 'callback' &&
        truth.kind !== 'immediates of one turn',
    )
    .map(
      ({ truth, about: [block] }) =>
        block.start + block.millis - (truth.wallStart + 0.5 + truth.millis),
    );
  const whole = median(offsets);
  const moved = median(quarter(offsets, 3)) - median(quarter(offsets, 0));
  return [
    {
      name: 'ends of spans against the wall clock, median',
      limit: `within ${limits.MAX_OFFSET_MILLIS} ms`,
      measured: `${whole.toFixed(2)} ms`,
      holds: Math.abs(whole) <= limits.MAX_OFFSET_MILLIS,
    },
    {
      name: 'the same, from the first quarter to the last',
      limit: `within ${limits.MAX_DRIFT_MILLIS} ms`,
      measured: `${moved.toFixed(2)} ms`,
      holds: Math.abs(moved) <= limits.MAX_DRIFT_MILLIS,
    },
  ];
}

/** @returns {Check} */
function check(
  /** @type {string} */ name,
  /** @type {string} */ limit,
  /** @type {number} */ count,
  /** @type {unknown[]} */ examples,
) {
  return {
    name,
    limit,
    measured: String(count),
    holds: count === 0,
    examples: examples.slice(0, ENOUGH_EXAMPLES),
  };
}

const tolerance = (/** @type {Interval} */ { millis }) =>
  Math.max(limits.LENGTH_TOLERANCE_MILLIS, millis * limits.LENGTH_TOLERANCE_SHARE);
const sum = (/** @type {number[]} */ values) => values.reduce((total, value) => total + value, 0);

function overlap(/** @type {Interval} */ a, /** @type {Interval} */ b) {
  return Math.max(0, Math.min(a.start + a.millis, b.start + b.millis) - Math.max(a.start, b.start));
}

/** The `n`th quarter, from 0. */
function quarter(/** @type {number[]} */ values, /** @type {number} */ n) {
  return values.slice(
    Math.floor((values.length * n) / 4),
    Math.ceil((values.length * (n + 1)) / 4),
  );
}

/** Neighbours in time. */
function pairs(/** @type {Reported[]} */ reported) {
  const sorted = reported.toSorted((a, b) => a.start - b.start);
  return sorted.slice(1).map((block, i) => /** @type {const} */ ([sorted[i], block]));
}
