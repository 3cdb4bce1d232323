// Guarantees: one entrance to all benchmarks. Each prints its tables and writes them, with the
// numbers behind them, as JSON. Needs the build; `npm run bench` makes it.
//
//   npm run bench                                        # lists them, and runs them all
//   npm run bench -- --list
//   npm run bench -- truth --node .matrix/node-24/node_modules/.bin/node
//   npm run bench -- cost idle --json results
//   npm run bench -- --show bench/results/2026-11-26-idle.json   # prints what was found then
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { table } from '../tools/table.cjs';
import { loadBenches } from './support/registry.mjs';
import { Report, render } from './support/report.mjs';

/** Where JSON goes unless `--json` says otherwise; git ignores it. */
const RESULTS = join(import.meta.dirname, 'results');

const args = process.argv.slice(2);
const split = args.findIndex((arg) => arg.startsWith('-'));
const names = split === -1 ? args : args.slice(0, split);
const benches = await loadBenches();
const unknown = names.filter((name) => !benches.some((bench) => bench.name === name));
const chosen = names.length === 0 ? benches : benches.filter(({ name }) => names.includes(name));

if (args[0] === '--show') {
  for (const file of args.slice(1)) console.log(render(JSON.parse(readFileSync(file, 'utf8'))));
} else if (unknown.length > 0 || args.includes('--list')) {
  list(unknown);
} else {
  const minutes = chosen.reduce((sum, bench) => sum + bench.minutes, 0);
  console.log(
    `${chosen.map(({ name }) => name).join(', ')}: some ${minutes} minutes for each Node.js`,
  );
  for (const bench of chosen) await run(bench);
}

function list(/** @type {string[]} */ strangers) {
  if (strangers.length > 0) console.error(`no such benchmark: ${strangers.join(', ')}`);
  console.log(
    table(
      ['npm run bench --', 'what it measures', 'minutes'],
      benches.map(({ name, about, minutes }) => [name, about, String(minutes)]),
    ),
  );
  if (strangers.length > 0) process.exitCode = 1;
}

async function run(/** @type {import('./support/registry.mjs').Bench} */ bench) {
  const { values } = parseArgs({
    args: split === -1 ? [] : args.slice(split),
    options: {
      ...bench.options,
      node: { type: 'string', multiple: true, default: [process.execPath] },
      json: { type: 'string', default: RESULTS },
    },
  });
  const report = new Report(bench.name);
  const nodes = values.node.map((/** @type {string} */ path) => ({
    path,
    version: versionOf(path),
  }));
  await bench.run({ nodes, options: values, report });
  report.write(join(values.json, `${bench.name}.json`));
}

function versionOf(/** @type {string} */ path) {
  const { status, stdout, error } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  if (status !== 0)
    throw new Error(`${path} is no Node.js: ${error?.message ?? `status ${status}`}`);
  return stdout.trim().slice(1);
}
