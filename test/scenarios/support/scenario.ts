/**
 * `test` for scenarios. A machine that is shared may take the CPU away from an app, between the
 * moment that the app measures and the moment that the package measures. The app measures that, too
 * (`apps/support/truth.cjs`). If a time is wrong then, its measurement is void, and is made again.
 * Noise does not repeat itself and a defect does: a test whose measurements are all void fails,
 * with what was wrong in the last one.
 */
import { appendFileSync } from 'node:fs';

/** A test of which so many measurements in a row do not pass fails. */
const MAX_MEASUREMENTS = 5;
const MAX_MILLIS_EACH = 60_000;
/** Set by `global-setup.mjs`, read by `void-reporter.mjs`. */
const TALLY_FILE = process.env['SCENARIO_TALLY'];

/** What was measured is wrong, and the machine took the CPU away meanwhile. */
export class VoidMeasurement extends Error {
  override readonly name = 'VoidMeasurement';

  /** @param wrong what would fail the test on a quiet machine; absent if nothing was judged */
  constructor(
    why: string,
    readonly wrong?: unknown,
  ) {
    super(why);
  }
}

/** What the running test has judged so far, in all of its measurements. */
let judged = new Set<string>();

/** One of several measurements of a run. */
export interface Measurement {
  label: string;
  /** Why it is void, if it is. */
  voidBecause: string | undefined;
  judge(): void;
}

/**
 * Judges each measurement. Throws `VoidMeasurement` afterwards if one did not pass that is void,
 * and none of its label has passed earlier in this test. Where a void one passes in spite of it, so
 * be it.
 */
export function judgeValid(measurements: readonly Measurement[]): void {
  const missing: VoidMeasurement[] = [];
  for (const { label, voidBecause, judge } of measurements) {
    try {
      judge();
      judged.add(label);
    } catch (error) {
      if (voidBecause === undefined) throw error;
      if (!judged.has(label)) missing.push(new VoidMeasurement(`${label}: ${voidBecause}`, error));
    }
  }
  if (missing[0] !== undefined) throw missing[0];
}

type Body<Arguments extends unknown[]> = (...args: Arguments) => Promise<void> | void;

const before: (() => Promise<void> | void)[] = [];
const after: (() => Promise<void> | void)[] = [];

/** As jest's `beforeEach`, for all tests of the file, and for every measurement of a test. */
export const beforeEachMeasurement = (hook: () => Promise<void> | void): void =>
  void before.push(hook);
export const afterEachMeasurement = (hook: () => Promise<void> | void): void =>
  void after.push(hook);

async function measure(body: () => Promise<void> | void): Promise<void> {
  for (const hook of before) await hook();
  try {
    await body();
  } finally {
    for (const hook of after) await hook();
  }
}

/** @param tally is told how many measurements were void, and how many were not */
export async function untilValid(
  body: () => Promise<void> | void,
  tally: (voids: number, valid: number) => void = () => {},
): Promise<void> {
  judged = new Set();
  for (let voids = 0; ; voids++) {
    try {
      await measure(body);
      tally(voids, 1);
      return;
    } catch (error) {
      if (!(error instanceof VoidMeasurement)) {
        tally(voids, 1);
        throw error;
      }
      if (voids + 1 < MAX_MEASUREMENTS) continue;
      tally(voids + 1, 0);
      const failure = error.wrong instanceof Error ? error.wrong : new Error('nothing to judge');
      failure.message += `\n(${MAX_MEASUREMENTS} times; the machine was busy: ${error.message})`;
      throw failure;
    }
  }
}

function noteInTally(voids: number, valid: number): void {
  if (TALLY_FILE === undefined) return;
  const name = expect.getState().currentTestName;
  appendFileSync(TALLY_FILE, `${JSON.stringify({ name, voids, valid })}\n`);
}

const limitOf = (millis = MAX_MILLIS_EACH) => millis * MAX_MEASUREMENTS;

interface ScenarioTest {
  (name: string, body: Body<[]>, millis?: number): void;
  each<Row extends unknown[] | [unknown]>(
    table: readonly Row[],
  ): (name: string, body: (...row: Row) => Promise<void> | void, millis?: number) => void;
  each<Row>(table: readonly Row[]): (name: string, body: Body<[Row]>, millis?: number) => void;
}

const jestTest = globalThis.test;

/** As jest's; `millis` limits each measurement. */
export const test: ScenarioTest = Object.assign(
  (name: string, body: Body<[]>, millis?: number) => {
    jestTest(name, () => untilValid(body, noteInTally), limitOf(millis));
  },
  {
    each: (table: readonly unknown[]) => (name: string, body: Body<unknown[]>, millis?: number) => {
      // jest counts the parameters of the function: one more than the row has would be its `done`
      jestTest.each(table as never)(
        name,
        (...row: unknown[]) => untilValid(() => body(...row), noteInTally),
        limitOf(millis),
      );
    },
  },
) as ScenarioTest;

/**
 * One run that several tests judge. After a failure or a void measurement, the next test starts
 * another.
 */
export function sharedRun<Run>(
  start: () => Promise<Run>,
): (judge: (run: Run) => void) => Promise<void> {
  let shared: Promise<Run> | undefined;
  return async (judge) => {
    shared ??= start();
    try {
      judge(await shared);
    } catch (error) {
      shared = undefined;
      throw error;
    }
  };
}
