// What the demo is doing right now: a spinner on a terminal, a line for each finished step
// elsewhere; on stderr, so that the report can be piped.
import ora from 'ora';

/**
 * Runs a step and shows how it goes.
 * @template T
 * @param {string} title
 * @param {(update: (detail: string) => void) => Promise<T>} step
 * @param {(result: T) => string} summary what to say when it is done
 * @returns {Promise<T>}
 */
export async function showStep(title, step, summary) {
  const interactive = Boolean(process.stderr.isTTY);
  const spinner = ora({
    text: title,
    isEnabled: interactive,
    isSilent: !interactive,
    discardStdin: false,
  }).start();
  try {
    const result = await step((detail) => {
      spinner.text = `${title}  ${detail}`;
    });
    const done = `${title}  ${summary(result)}`;
    spinner.succeed(done);
    if (!interactive) process.stderr.write(`${done}\n`);
    return result;
  } catch (error) {
    spinner.fail();
    throw error;
  }
}
