// Guarantees: the test suites of widely used packages end the same with this package preloaded as
// without it; exit code 1 if the outcome of a test differs twice. Sources are kept in the folder
// for temporary files.
//
//   npm run check -- peers                               all of them
//   npm run check -- peers --only express,mocha       some
//   npm run check -- peers --only mocha/unit          one suite of one
//   npm run check -- peers --node 24                  on another Node.js
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { npm } from '../../tools/npm.cjs';
import { pack } from '../../tools/pack.cjs';
import { ROOT } from '../../tools/paths.cjs';
import { table } from '../../tools/table.cjs';
import { installNode } from '../matrix/nodes.mjs';
import { prepareSources } from './sources.mjs';
import { SUBJECTS } from './subjects.mjs';
import { BASELINES, PACKAGE_FOLDER, runSuite } from './suite.mjs';

/** @import { Run } from './suite.mjs' */
/** @typedef {keyof typeof import('./suite.mjs').WAYS} Way */

/** What an application has that uses `/register`: no instrumentation that patches modules. */
const SDK = '@opentelemetry/sdk-node@0.223.0';
const API = '@opentelemetry/api@1.9.1';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    node: { type: 'string' },
  },
});

const node =
  options.node === undefined
    ? { path: process.execPath, version: process.versions.node }
    : installNode(Number(options.node));
const ways = /** @type {(keyof typeof BASELINES)[]} */ (Object.keys(BASELINES));
const only = options.only?.split(',');
const isChosen = (/** @type {string} */ subject, /** @type {string} */ suite) =>
  only === undefined || only.includes(subject) || only.includes(`${subject}/${suite}`);
const chosen = SUBJECTS.map((subject) => ({
  ...subject,
  chosen: subject.suites.filter(({ name }) => isChosen(subject.name, name)),
})).filter((subject) => subject.chosen.length > 0);
if (chosen.length === 0) throw new Error(`nothing is named ${options.only}`);

installPackage();
console.log(`Node.js ${node.version}`);
const rows = [];
for (const { chosen: suites, ...subject } of chosen) {
  let folder;
  try {
    folder = prepareSources(subject);
  } catch (error) {
    console.log(`\n${subject.name} is not run: ${error.message}`);
    process.exitCode = 1;
    continue;
  }
  for (const suite of suites) {
    const id = `${subject.name}-${suite.name}`;
    console.log(`\n== ${subject.name} ${subject.version}, ${suite.name}`);
    const run = (/** @type {Way} */ way, attempt = 1) =>
      runSuite(id, suite, folder, way, { node: node.path, attempt });
    const plain = await run('plain');
    const preloaded = [];
    for (const way of ways) {
      const base = BASELINES[way];
      const differs = differences(base === 'plain' ? plain : await run(base), await run(way));
      const unreliable = differs.filter((name) => Object.hasOwn(suite.unreliable ?? {}, name));
      for (const name of unreliable)
        console.log(`left out ${way}: ${name}: ${suite.unreliable?.[name]}`);
      const judged = differs.filter((name) => !unreliable.includes(name));
      const twice = judged.length === 0 ? [] : await again(run, way, judged);
      for (const line of twice) console.log(`DIFFERS ${way}: ${line}`);
      const once = judged.length - twice.length;
      preloaded.push(`${twice.length} differ${once > 0 ? ` (${once} once)` : ''}`);
      if (twice.length > 0) process.exitCode = 1;
    }
    if (plain.outcomes.size < 2) {
      console.log(`no test ran: ${plain.log}`);
      process.exitCode = 1;
    }
    rows.push([`${subject.name} ${subject.version}`, suite.name, summary(plain), ...preloaded]);
  }
}
console.log(`\n${table(['package', 'suite', 'plain', ...ways], rows)}`);

/** The tarball, as an application has it. */
function installPackage() {
  npm(['run', 'build'], ROOT);
  const tarball = pack();
  mkdirSync(PACKAGE_FOLDER, { recursive: true });
  writeFileSync(join(PACKAGE_FOLDER, 'package.json'), '{ "private": true }\n');
  npm(['install', '--no-save', '--prefer-offline', tarball.path, SDK, API], PACKAGE_FOLDER);
  for (const preload of ['class.cjs', 'hooks.mjs'])
    copyFileSync(join(import.meta.dirname, 'support', preload), join(PACKAGE_FOLDER, preload));
}

/** @returns {string[]} names of tests */
function differences(/** @type {Run} */ base, /** @type {Run} */ other) {
  const names = new Set([...base.outcomes.keys(), ...other.outcomes.keys()]);
  return [...names].filter((name) => base.outcomes.get(name) !== other.outcomes.get(name));
}

/**
 * Both once more: what differs in both pairs of runs.
 * @param {(way: Way, attempt: number) => Promise<Run>} run
 * @param {keyof typeof BASELINES} way
 * @param {string[]} differed
 */
async function again(run, way, differed) {
  const base = await run(BASELINES[way], 2);
  const other = await run(way, 2);
  return differences(base, other)
    .filter((name) => differed.includes(name))
    .map((name) => {
      const was = base.outcomes.get(name) ?? 'not run';
      const is = other.outcomes.get(name) ?? 'not run';
      const message = other.messages.get(name) ?? base.messages.get(name);
      return `${name}: ${was} without, ${is} with${message ? ` (${message})` : ''}`;
    });
}

function summary(/** @type {Run} */ { outcomes, seconds }) {
  const count = (/** @type {string} */ outcome) =>
    [...outcomes.values()].filter((each) => each === outcome).length;
  return `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped, ${seconds.toFixed(0)} s`;
}
