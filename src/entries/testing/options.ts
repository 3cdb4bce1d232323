/** The options of a recording. */
import { nearestOf } from '../../support/nearest.ts';

/** Options of {@link recordBlocks} and {@link expectNoBlocks}. */
export interface RecordingOptions {
  /**
   * The shortest block that counts, in milliseconds, 1 to 60 000. On Linux, the time for which the
   * thread waited for a CPU is no part of it: other processes make no block longer.
   * @default 100
   */
  thresholdMillis?: number;
}

/** Options of {@link expectNoBlocks}. */
export interface ExpectNoBlocksOptions extends RecordingOptions {
  /**
   * Blocks that do not fail the test: names of functions, such as `renderReport`, and files or
   * folders, such as `src/report.js` or `node_modules/lodash`. A block is ignored if the blocking
   * function, or a function that called it, has one of these names or is in one of these files.
   * @default none
   */
  ignore?: readonly string[];
}

/** @throws TypeError if an option is unknown, or `ignore` is no list of names */
export function checkOptions(
  caller: string,
  options: ExpectNoBlocksOptions,
  known: readonly (keyof ExpectNoBlocksOptions)[],
): void {
  for (const name of Object.keys(options)) {
    if ((known as readonly string[]).includes(name)) continue;
    throw new TypeError(
      `${caller}: unknown option ${name}; the nearest is ${nearestOf(name, known)}`,
    );
  }
  const { ignore = [] } = options;
  if (Array.isArray(ignore) && ignore.every((one) => typeof one === 'string' && one !== '')) return;
  throw new TypeError(`${caller}: option ignore must be a list of names or files, none of them ''`);
}
