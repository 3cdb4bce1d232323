// `npm run check -- rules`: checks deploy/prometheus/rules.yaml, and runs its unit tests,
// deploy/prometheus/rules.test.yaml, and those of the dashboard's queries, with promtool. Takes the
// one in PROMTOOL, else the newest that `node test/stack/servers/install.mjs prometheus` has built,
// else the one on the PATH; 2.42 will do.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ROOT } from '../tools/paths.cjs';
import { dashboardQueryTests } from './dashboard-query-tests.mjs';

const BUILT = join(ROOT, '.stack/servers');
const RULES = join(ROOT, 'deploy/prometheus/rules.yaml');
const TESTS = join(ROOT, 'deploy/prometheus/rules.test.yaml');

function findPromtool() {
  if (process.env.PROMTOOL) return process.env.PROMTOOL;
  const built = existsSync(BUILT) ? readdirSync(BUILT) : [];
  const onPath = (process.env.PATH ?? '').split(delimiter);
  return [
    ...built
      .filter((folder) => folder.startsWith('prometheus-'))
      .map((folder) => join(BUILT, folder, 'promtool'))
      .filter((path) => existsSync(path))
      .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs),
    ...onPath.map((folder) => join(folder, 'promtool')).filter((path) => existsSync(path)),
  ][0];
}

/** Returns whether it went well. */
function run(/** @type {string} */ promtool, /** @type {string[]} */ ...args) {
  const { status, error } = spawnSync(promtool, args, { stdio: 'inherit' });
  if (error) console.error(`cannot run ${promtool}: ${error.message}`);
  return status === 0;
}

const promtool = findPromtool();
if (promtool === undefined) {
  console.error(
    'There is no promtool: set PROMTOOL to one, install Prometheus (`apt-get install prometheus`), or build it with Go:\n' +
      '  node test/stack/servers/install.mjs prometheus',
  );
  process.exit(1);
}
console.log(promtool);
const scratch = mkdtempSync(join(tmpdir(), 'dashboard-queries-'));
const queries = join(scratch, 'queries.test.yaml');
try {
  writeFileSync(queries, JSON.stringify(dashboardQueryTests()));
  const results = [
    run(promtool, 'check', 'rules', RULES),
    run(promtool, 'test', 'rules', TESTS),
    run(promtool, 'test', 'rules', queries),
  ];
  process.exitCode = results.every(Boolean) ? 0 : 1;
} finally {
  rmSync(scratch, { recursive: true });
}
