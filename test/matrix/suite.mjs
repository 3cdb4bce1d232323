// Promises: the suite runs to its end on the given Node.js, under a time limit, and leaves no process behind.
import { spawn } from 'node:child_process';
import { mkdirSync, openSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RESULTS } from './paths.mjs';
import { readResults } from './results.mjs';

/** @import { Cell } from './cells.mjs' */
/** @import { NodeBinary } from './nodes.mjs' */

const LIMIT_MILLIS = 15 * 60_000;
/** How long processes that the suite started may still be on their way out after it has ended. */
const GRACE_MILLIS = 500;

/**
 * @param {Cell} cell
 * @param {NodeBinary} node
 * @param {string} folder where the cell is staged
 * @param {string[]} jestArguments
 */
export async function runSuite(cell, node, folder, jestArguments) {
  mkdirSync(RESULTS, { recursive: true });
  const resultFile = join(RESULTS, `${cell.id}.json`);
  const logFile = join(RESULTS, `${cell.id}.log`);
  rmSync(resultFile, { force: true });
  const log = openSync(logFile, 'w');

  const started = performance.now();
  const jest = [
    join('node_modules', 'jest', 'bin', 'jest.js'),
    '--json',
    `--outputFile=${resultFile}`,
    ...jestArguments,
  ];
  const child = spawn(node.path, jest, {
    cwd: folder,
    detached: true, // a process group of its own, to be ended as a whole
    stdio: ['ignore', log, log],
    env: {
      ...process.env,
      CI: 'true',
      PATH: `${dirname(node.path)}${delimiter}${process.env.PATH}`,
    },
  });
  const endOnSignal = () => {
    endGroup(child.pid);
    process.exit(1);
  };
  process.once('SIGINT', endOnSignal).once('SIGTERM', endOnSignal);
  const limit = setTimeout(() => endGroup(child.pid), LIMIT_MILLIS);
  const status = await new Promise((resolve) => {
    child.once('error', resolve).once('exit', (code, signal) => resolve(code ?? signal));
  });
  clearTimeout(limit);
  const seconds = (performance.now() - started) / 1000;
  await sleep(GRACE_MILLIS);
  const leftBehind = endGroup(child.pid);
  process.off('SIGINT', endOnSignal).off('SIGTERM', endOnSignal);

  return { ...readResults(resultFile), status, seconds, leftBehind, logFile };
}

/** @returns {boolean} whether there still was a process in the group */
function endGroup(/** @type {number | undefined} */ pid) {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, 'SIGKILL');
  } catch {
    return false;
  }
}
