// Guarantees: all scenarios, as parallel as they can be without judging noise.
//
//   npm run test:scenarios                         all of them
//   npm run test:scenarios -- -t 'an idle loop'    what follows goes to jest
//   node test/scenarios/run.mjs alone              only those that run one at a time
//   node test/scenarios/run.mjs together           only the others, two at a time
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const SUFFIX = '.test.ts';
/**
 * About lengths, stack samples, and how long a process takes to end: two of them at the same time
 * would wait for each other. With less CPU, what many requests do by themselves piles up.
 */
const ONE_AT_A_TIME = new Set([
  'blockers',
  'capture',
  'idle',
  'incidents',
  'interrupted',
  'lag',
  'loop-profile',
  'native-calls',
  'overload',
  'smoke',
  'stalled-spans',
  'suspensions',
  'worker-threads',
]);

const WAYS = ['alone', 'together'];
const [first = ''] = process.argv.slice(2);
const ways = WAYS.includes(first) ? [first] : WAYS;
const jestArguments = process.argv.slice(WAYS.includes(first) ? 3 : 2);
const jest = createRequire(import.meta.url).resolve('jest/bin/jest');

const results = ways.map((way) => {
  const isAlone = way === 'alone';
  const files = readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith(SUFFIX))
    .filter((name) => ONE_AT_A_TIME.has(basename(name, SUFFIX)) === isAlone)
    .map((name) => relative(ROOT, join(import.meta.dirname, name)));
  const workers = `--maxWorkers=${isAlone ? 1 : 2}`;
  const { status } = spawnSync(
    process.execPath,
    [jest, workers, ...jestArguments, '--runTestsByPath', ...files],
    { cwd: ROOT, stdio: 'inherit' },
  );
  return status;
});
process.exitCode = results.every((status) => status === 0) ? 0 : 1;
