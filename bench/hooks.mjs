// Promises: what the instrumentation adds to the operations a service makes millions of, beside what an empty hook
// adds, per `asyncHooks` mode and Node.js; see README.md. Needs the build: `npm run build` first.
//
//   npm run bench
//   npm run bench -- --node .matrix/node-24/node_modules/.bin/node --node /usr/bin/node
//   npm run bench -- --only "asyncHooks: 'callbacks'" --rounds 100 --json bench.json
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { printMachine } from './machine.mjs';
import { interval } from './statistics.mjs';
import { SUBJECTS } from './subjects.mjs';
import { table } from './table.mjs';
import { WORKLOADS } from './workloads.mjs';

/** @import { Estimate } from './statistics.mjs' */

/** Off slices after the first enabling that are slower than those before it by more than this are pointed out. */
const LASTING_EFFECT = 0.05;

const { values: options } = parseArgs({
  options: {
    node: { type: 'string', multiple: true, default: [process.execPath] },
    only: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '40' },
    settle: { type: 'string', default: '150' },
    json: { type: 'string' },
  },
});

const names = options.only ?? SUBJECTS.map((subject) => subject.name);
const machine = printMachine(`${options.rounds} rounds`);

const results = options.node.map((path) => ({ path, subjects: names.map((name) => measure(path, name)) }));
for (const { subjects } of results) print(subjects);

if (options.json !== undefined) {
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

function isLasting(/** @type {Estimate} */ { low }) {
  return low > 1 + LASTING_EFFECT;
}
