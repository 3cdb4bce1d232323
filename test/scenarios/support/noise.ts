/**
 * A machine that is shared may hold the whole app, between what the app measures and what the package measures, for longer
 * than any tolerance that still means something. That is chance: a mistake of ours is there the second time as well.
 */
import type { Run } from './run-app.ts';

/** For the tests of the file that calls it. What failed the first time is printed. */
export function giveSecondChance(): void {
  jest.retryTimes(1, { logErrorsBeforeRetry: true });
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
