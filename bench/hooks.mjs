// Promises: what the instrumentation adds to the operations a service makes millions of, beside what an empty hook
// adds, per `asyncHooks` mode and Node.js; see README.md. Needs the build: `npm run build` first.
//
//   npm run bench
//   npm run bench -- --node .matrix/node-24/node_modules/.bin/node --node /usr/bin/node
//   npm run bench -- --only "asyncHooks: 'callbacks'" --rounds 100 --json bench.json
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SUBJECTS } from './subjects.mjs';
import { table } from './table.mjs';
import { WORKLOADS } from './workloads.mjs';

/** @import { Estimate } from './statistics.mjs' */

/** One-minute load from which the numbers are not worth quoting: somebody else is at work. */
const QUIET_LOAD = 0.5;
const NOT_QUIET = ' (NOT QUIET: do not quote these numbers)';
/** Off slices after the first enabling that are slower than those before it by more than this are pointed out. */
const LASTING_EFFECT = 0.05;

const { values: options } = parseArgs({
  options: {
    node: { type: 'string', multiple: true, default: [process.execPath] },
    only: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '40' },
    settle: { type: 'string', default: '60' },
    json: { type: 'string' },
  },
});

const names = options.only ?? SUBJECTS.map((subject) => subject.name);
const load = loadavg()[0];
console.log(`${cpus()[0].model}, ${availableParallelism()} CPUs, ${process.platform} ${process.arch}`);
console.log(
  `${options.rounds} rounds; load before the run: ${load.toFixed(2)}${load < QUIET_LOAD ? '' : NOT_QUIET}`,
);

const results = options.node.map((path) => ({ path, subjects: names.map((name) => measure(path, name)) }));
for (const { subjects } of results) print(subjects);

if (options.json !== undefined) {
  const machine = { cpu: cpus()[0].model, cpus: availableParallelism(), platform: process.platform, load };
  const report = { date: new Date().toISOString(), machine, rounds: Number(options.rounds), results };
  writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
}

/** Each subject has a process to itself: what promise hooks leave behind in V8 must not reach the next one. */
function measure(/** @type {string} */ path, /** @type {string} */ name) {
  const script = join(import.meta.dirname, 'measure.mjs');
  const { status, stdout, error } = spawnSync(path, [script, name, options.rounds, options.settle], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0)
    throw new Error(`${path} failed to measure "${name}": ${error?.message ?? `status ${status}`}`);
  return JSON.parse(stdout);
}

function print(/** @type {any[]} */ subjects) {
  const columns = WORKLOADS.map((workload) => workload.name);
  const row = (/** @type {(workload: any) => string} */ cell) => (/** @type {any} */ subject) => [
    subject.subject,
    ...subject.workloads.map(cell),
  ];

  console.log(
    `\nNode.js ${subjects[0].node.slice(1)}: ns added per operation, median [95 % interval], ratio to off`,
  );
  const off = ['(off, ns)', ...columns.map((_, i) => subjects[0].workloads[i].offNanos.toFixed(0))];
  const added = row(({ addedNanos, ratio }) => `${interval(addedNanos, 1)} x${ratio.value.toFixed(2)}`);
  console.log(table(['', ...columns], [off, ...subjects.map(added)]));

  console.log('\nwhat stays after disable(): off slices after the first enabling / before it');
  const lasting = row(({ offAfterOverBefore: ratio }) => interval(ratio, 2) + (isLasting(ratio) ? ' !' : ''));
  console.log(table(['', ...columns], subjects.map(lasting)));
}

function interval(/** @type {Estimate} */ { value, low, high }, /** @type {number} */ digits) {
  return `${value.toFixed(digits)} [${low.toFixed(digits)}, ${high.toFixed(digits)}]`;
}

function isLasting(/** @type {Estimate} */ { low }) {
  return low > 1 + LASTING_EFFECT;
}
