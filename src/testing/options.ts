/** The options of a recording, from code and from the environment. */

/** If it is `true`, `expectNoBlocks` writes what blocks into the baseline. */
export const UPDATE_VARIABLE = 'OTEL_INSTRUMENTATION_EVENT_LOOP_UPDATE_BASELINE';
/** If it is `true`, tests write their blocks into the job summary. */
const SUMMARY_VARIABLE = 'OTEL_INSTRUMENTATION_EVENT_LOOP_JOB_SUMMARY';

/** Options of {@link recordBlocks} and {@link expectNoBlocks}. */
export interface RecordingOptions {
  /**
   * The shortest block that counts, in milliseconds, 1 to 60 000. On Linux, the time for which the
   * thread waited for a CPU is no part of it: other processes make no block longer.
   * @default 100
   */
  thresholdMillis?: number;
  /**
   * What the blocks of this call stand under in the baseline and in the job summary.
   * @default file and name of the test, under jest and under vitest with globals, else the file of
   *   the caller
   */
  name?: string;
  /**
   * Appends a Markdown table of the blocks to the file that `GITHUB_STEP_SUMMARY` names: the
   * summary of a GitHub job. Never fails the test.
   * @default what the environment variable `OTEL_INSTRUMENTATION_EVENT_LOOP_JOB_SUMMARY` says, else
   *   `false`
   */
  jobSummary?: boolean;
}

/** Options of {@link expectNoBlocks}. */
export interface ExpectNoBlocksOptions extends RecordingOptions {
  /**
   * File of known blocks, to be committed; a path starts at the working directory. Blocks of a
   * place that is not in it, and blocks more than twice as long as it has them, fail the test. It
   * is written if the environment variable `OTEL_INSTRUMENTATION_EVENT_LOOP_UPDATE_BASELINE` is
   * `true`.
   */
  baseline?: string | URL;
  /**
   * Writes what blocks into the baseline, and does not fail.
   * @default what the environment variable says, else `false`
   */
  updateBaseline?: boolean;
}

export type BaselineOptions = Pick<ExpectNoBlocksOptions, 'baseline' | 'name' | 'updateBaseline'>;

/** @throws TypeError or RangeError if an option, or an environment variable, is wrong */
export function checkOptions(
  caller: string,
  { baseline, name, updateBaseline: update, jobSummary }: ExpectNoBlocksOptions,
): { readonly updateBaseline: boolean; readonly jobSummary: boolean } {
  const expect = (isRight: boolean, option: string, expected: string) => {
    if (!isRight) throw new TypeError(`${caller}: option ${option} must be ${expected}`);
  };
  const isBaseline = typeof baseline === 'string' || baseline instanceof URL;
  expect(baseline === undefined || isBaseline, 'baseline', 'a path or a file URL');
  expect(['undefined', 'string'].includes(typeof name), 'name', 'a string');
  const isSwitch = (option: unknown) => ['undefined', 'boolean'].includes(typeof option);
  expect(isSwitch(update), 'updateBaseline', 'true or false');
  expect(isSwitch(jobSummary), 'jobSummary', 'true or false');
  return {
    updateBaseline: update ?? isOn(UPDATE_VARIABLE),
    jobSummary: jobSummary ?? isOn(SUMMARY_VARIABLE),
  };
}

function isOn(variable: string): boolean {
  const text = process.env[variable]?.trim().toLowerCase() ?? '';
  if (text === '' || text === 'false') return false;
  if (text === 'true') return true;
  throw new RangeError(`${variable} is ${JSON.stringify(text)}, expected true or false`);
}
