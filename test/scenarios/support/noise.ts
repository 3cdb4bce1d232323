/**
 * A machine that is shared may hold the whole app, between what the app measures and what the package measures, for longer
 * than any tolerance that still means something. That is chance: a mistake of ours is there the second time as well.
 */
import type { Run } from './run-app.ts';

const unforgiven: unknown[] = [];

/**
 * For the tests of the file that calls it. What failed the first time is printed. With SCENARIO_STRICT=1 there is no second
 * chance: to measure, on a quiet machine, how often one is needed.
 */
export function giveSecondChance(): void {
  if (process.env['SCENARIO_STRICT'] === '1') return;
  jest.retryTimes(1, { logErrorsBeforeRetry: true });
  afterAll(() => {
    if (unforgiven.length > 0) throw unforgiven[0];
  });
}

/** What no noise can explain: once wrong is wrong, whatever the second chance says. */
export function withoutSecondChance(check: () => void): void {
  try {
    check();
  } catch (error) {
    unforgiven.push(error);
    throw error;
  }
}

/** One run that several tests look at. After a failure the next look is at a new one. */
export function sharedRun(start: () => Promise<Run>): (look: (run: Run) => void) => Promise<void> {
  let shared: Promise<Run> | undefined;
  return async (look) => {
    shared ??= start();
    try {
      look(await shared);
    } catch (error) {
      shared = undefined;
      throw error;
    }
  };
}
