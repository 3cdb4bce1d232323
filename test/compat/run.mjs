// Guarantees: the packed tarball works with the SDKs, frameworks and bundlers that people run, as
// installed from npm; a table at the end; exit code 1 when anything failed. What is installed is
// kept in `.compat/` until its manifest changes.
//
//   npm run check -- compat                            all subjects
//   npm run check -- compat --quick                 those that CI has time for
//   npm run check -- compat --only sentry,koa       some subjects
//   npm run check -- compat --only koa -- -t line   what follows the second `--` goes to jest
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { npm } from '../../tools/npm.cjs';
import { pack } from '../../tools/pack.cjs';
import { ROOT } from '../../tools/paths.cjs';
import { table } from '../../tools/table.cjs';
import { installNode } from '../matrix/nodes.mjs';
import { RESULTS } from '../matrix/paths.mjs';
import { runSuite } from '../matrix/suite.mjs';
import { groupFolder, installGroup } from './install.mjs';
import { NEWER_NODE, SUBJECTS } from './subjects.mjs';

/** @import { Subject } from './subjects.mjs' */

// Next.js is built by the first of its tests.
const JEST_OPTIONS = ['--selectProjects', 'compat', '--maxWorkers=1', '--testTimeout=180000'];
const RUN = 'compat';

const { values: options, positionals: jestArguments } = parseArgs({
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    install: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});

const chosen = chooseSubjects();
const subjects = chosen.filter(({ needs }) => needs === undefined || isOnPath(needs));
for (const { name, needs } of chosen.filter((subject) => !subjects.includes(subject)))
  console.log(`not run: ${name}, which needs \`${needs}\` on the PATH`);
if (subjects.length === 0) process.exit(1);
npm(['run', 'build'], ROOT);
const tarball = pack();
console.log(`tarball: ${tarball.path}\n         ${tarball.integrity}\n`);

const problems = installAll();
if (options.install) process.exit(problems.size === 0 ? 0 : 1);
const selected = subjects.map((subject) => prepare(subject));
process.env.COMPAT_SELECTED = JSON.stringify(selected);
const files = [
  ...new Set(subjects.map(({ test = 'services' }) => `test/compat/${test}.compat.ts`)),
];
const run = await runSuite({ id: RUN }, { path: process.execPath }, ROOT, [
  ...JEST_OPTIONS,
  ...jestArguments,
  '--runTestsByPath',
  ...files,
]);

for (const { name, message } of run.failures) console.log(`\nFAILED ${name}\n${message}`);
const rows = selected.map((each) => ({ ...each, ...resultOf(each.subject) }));
console.log();
console.log(
  table(
    ['subject', 'versions', 'Node.js', 'passed', 'failed', 'seconds'],
    rows.map(({ subject, versions, nodeVersion, passed, failed, seconds }) => [
      subject.name,
      versions.map(({ name, version }) => `${name} ${version}`).join(', '),
      nodeVersion,
      `${passed}`,
      `${failed}`,
      seconds.toFixed(1),
    ]),
  ),
);
console.log(`\nlog: ${run.logFile}`);
console.log(
  `${run.passed} passed, ${run.failed} failed${run.skipped > 0 ? `, ${run.skipped} skipped` : ''}`,
);
process.exitCode =
  run.status === 0 && run.failed === 0 && run.passed > 0 && run.leftBehind.length === 0 ? 0 : 1;

/** @returns {Subject[]} */
function chooseSubjects() {
  if (options.only === undefined) return SUBJECTS.filter(({ quick }) => quick || !options.quick);
  const wanted = options.only.split(',').map((name) => name.trim());
  const known = SUBJECTS.map(({ name }) => name);
  const unknown = wanted.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new Error(`no such subject: ${unknown.join(', ')} (there are ${known.join(', ')})`);
  return SUBJECTS.filter(({ name }) => wanted.includes(name));
}

function isOnPath(/** @type {string} */ command) {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .some((folder) => existsSync(join(folder, command)));
}

/**
 * @returns {Map<string, string>} what kept a group from being installed; its subjects' tests fail
 *   with that
 */
function installAll() {
  const problems = new Map();
  for (const group of new Set(subjects.map((subject) => subject.group))) {
    const started = performance.now();
    try {
      const installed = installGroup(group, tarball);
      console.log(`${group}: ${installed}, ${((performance.now() - started) / 1000).toFixed(1)} s`);
    } catch (error) {
      console.log(`${group}: cannot be installed: ${error.message}`);
      problems.set(group, error.message);
    }
  }
  return problems;
}

function prepare(/** @type {Subject} */ subject) {
  const folder = groupFolder(subject.group);
  const { quick } = options;
  const needsNewer =
    subject.node !== undefined && Number.parseInt(process.versions.node, 10) < subject.node;
  try {
    const problem = problems.get(subject.group);
    if (problem !== undefined) throw new Error(problem);
    const node = needsNewer
      ? installNode(NEWER_NODE)
      : { path: process.execPath, version: process.versions.node };
    const versions = subject.packages.map((name) => installedIn(folder, name));
    return { subject, folder, quick, node: node.path, nodeVersion: node.version, versions };
  } catch (error) {
    return {
      subject,
      folder,
      quick,
      node: '',
      nodeVersion: '-',
      versions: [],
      problem: error.message,
    };
  }
}

/** @returns {{ name: string, version: string }} of the package itself, by any name in the group */
function installedIn(/** @type {string} */ folder, /** @type {string} */ name) {
  const manifest = JSON.parse(
    readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8'),
  );
  return { name: manifest.name, version: manifest.version };
}

/** What jest counted under the subject's name. */
function resultOf(/** @type {Subject} */ { name }) {
  const file = join(RESULTS, `${RUN}.json`);
  const { testResults } = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : { testResults: [] };
  const tests = testResults
    .flatMap((/** @type {any} */ file) => file.assertionResults)
    .filter((/** @type {any} */ test) => test.ancestorTitles[0] === name);
  const count = (/** @type {string} */ status) =>
    tests.filter((/** @type {any} */ test) => test.status === status).length;
  const millis = tests.reduce(
    (/** @type {number} */ sum, /** @type {any} */ test) => sum + (test.duration ?? 0),
    0,
  );
  return { passed: count('passed'), failed: count('failed'), seconds: millis / 1000 };
}
