// Guarantees: all scenarios, as parallel as they can be without judging noise.
//
//   npm run test:scenarios                         all of them
//   npm run test:scenarios -- -t 'an idle loop'    what follows goes to jest
//   node test/scenarios/run.mjs alone              only those that run one at a time
//   node test/scenarios/run.mjs together           only the others, two at a time
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { jestOptions } from './one-at-a-time.mjs';

const ROOT = join(import.meta.dirname, '..', '..');

const WAYS = Object.keys(jestOptions);
const [first = ''] = process.argv.slice(2);
const ways = WAYS.includes(first) ? [first] : WAYS;
const jestArguments = process.argv.slice(WAYS.includes(first) ? 3 : 2);
const jest = createRequire(import.meta.url).resolve('jest/bin/jest');

const results = ways.map((way) => {
  const { status } = spawnSync(
    process.execPath,
    [jest, 'test/scenarios', ...jestArguments, ...jestOptions[way]],
    { cwd: ROOT, stdio: 'inherit' },
  );
  return status;
});
process.exitCode = results.every((status) => status === 0) ? 0 : 1;
