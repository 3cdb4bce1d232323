// `npm run check -- rules`: checks deploy/prometheus/rules.yaml, and runs its unit tests,
// deploy/prometheus/rules.test.yaml, and those of the dashboard's queries, with promtool: the one
// in PROMTOOL, or the one on the PATH; 2.42 will do. `node test/stack/servers/install.mjs
// prometheus` builds one.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../tools/paths.cjs';
import { dashboardQueryTests } from './dashboard-query-tests.mjs';

const { PROMTOOL = 'promtool' } = process.env;
const RULES = join(ROOT, 'deploy/prometheus/rules.yaml');
const TESTS = join(ROOT, 'deploy/prometheus/rules.test.yaml');

/** Returns whether it went well. */
function run(/** @type {string[]} */ ...args) {
  const { status, error } = spawnSync(PROMTOOL, args, { stdio: 'inherit' });
  if (error) console.error(`cannot run ${PROMTOOL}, set PROMTOOL to one: ${error.message}`);
  return status === 0;
}

const scratch = mkdtempSync(join(tmpdir(), 'dashboard-queries-'));
const queries = join(scratch, 'queries.test.yaml');
try {
  writeFileSync(queries, JSON.stringify(dashboardQueryTests()));
  const results = [
    run('check', 'rules', RULES),
    run('test', 'rules', TESTS),
    run('test', 'rules', queries),
  ];
  process.exitCode = results.every(Boolean) ? 0 : 1;
} finally {
  rmSync(scratch, { recursive: true });
}
