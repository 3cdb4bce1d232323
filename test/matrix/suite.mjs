// Guarantees: the suite runs to its end on the given Node.js, under a time limit, and leaves no
// process behind.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, openSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RESULTS } from './paths.mjs';
import { readResults } from './results.mjs';

/** @import { Cell } from './cells.mjs' */
/** @import { NodeBinary } from './nodes.mjs' */

const LIMIT_MILLIS = 30 * 60_000;
/** How long processes that the suite started may still be on their way out after it has ended. */
const GRACE_MILLIS = 5000;

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
  const leftBehind = await membersLeft(child.pid);
  endGroup(child.pid);
  process.off('SIGINT', endOnSignal).off('SIGTERM', endOnSignal);

  return { ...readResults(resultFile), status, seconds, leftBehind, logFile };
}

/**
 * @returns {Promise<string[]>} the command lines of the group that still run after the time of
 *   grace
 */
async function membersLeft(/** @type {number | undefined} */ group) {
  for (const end = performance.now() + GRACE_MILLIS; ; await sleep(50)) {
    const members = membersOf(group);
    if (members.length === 0 || performance.now() > end) return members;
  }
}

/** A process that has ended, and that nobody has asked for how, is none. */
function membersOf(/** @type {number | undefined} */ group) {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pgid=,stat=,args='], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([pgid, stat]) => Number(pgid) === group && !stat?.startsWith('Z'))
    .map(([, , ...args]) => args.join(' '));
}

export function endGroup(/** @type {number | undefined} */ pid) {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // there is none
  }
}
