// Guarantees: the part of a benchmark that is measured runs in a process of its own: the
// benchmark's file, started anew.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * @param {string} url of the benchmark's file, which calls {@link answerInFreshProcess}
 * @param {string} node path of the Node.js that runs it
 * @param {string[]} args
 * @param {string[]} [nodeArgs]
 * @returns {any} what `measure` there has returned
 */
export function measureInFreshProcess(url, node, args, nodeArgs = []) {
  const { status, stdout, error } = spawnSync(node, [...nodeArgs, fileURLToPath(url), ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0)
    throw new Error(
      `${node} failed to measure ${args[0] ?? ''}: ${error?.message ?? `status ${status}`}`,
    );
  return JSON.parse(stdout);
}

/**
 * In the process that is measured: runs `measure`, prints what it returns and ends. Elsewhere it
 * does nothing.
 * @param {string} url of the file that calls it
 * @param {(...args: string[]) => unknown} measure
 */
export async function answerInFreshProcess(url, measure) {
  if (process.argv[1] !== fileURLToPath(url)) return;
  const result = await measure(...process.argv.slice(2));
  process.stdout.write(JSON.stringify(result ?? null), () => process.exit());
}
