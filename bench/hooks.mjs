// Promises: what the instrumentation adds to the operations a service makes millions of, beside what an empty hook
// adds, per `asyncHooks` mode and Node.js; see README.md.
//
//   npm run bench -- hooks --node .matrix/node-24/node_modules/.bin/node --node /usr/bin/node
//   npm run bench -- hooks --only "asyncHooks: 'callbacks'" --rounds 100
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { interval } from './statistics.mjs';
import { SUBJECTS } from './subjects.mjs';
import { WORKLOADS } from './workloads.mjs';

/** @import { Estimate } from './statistics.mjs' */

/** Off slices after the first enabling that are slower than those before it by more than this are pointed out. */
const LASTING_EFFECT = 0.05;

/** @type {import('./registry.mjs').Bench} */
export default {
  name: 'hooks',
  about: 'ns added to an await, a callback, a nextTick, a context scope',
  minutes: 12,
  options: {
    only: { type: 'string', multiple: true, default: SUBJECTS.map((subject) => subject.name) },
    rounds: { type: 'string', default: '40' },
    settle: { type: 'string', default: '150' },
  },
  async run({ nodes, options, report }) {
    for (const { path, version } of nodes) {
      const subjects = options.only.map((/** @type {string} */ name) => measure(path, name, options));
      tell(report, version, subjects);
    }
  },
};

/** Each subject has a process to itself: what promise hooks leave behind in V8 must not reach the next one. */
function measure(
  /** @type {string} */ path,
  /** @type {string} */ name,
  /** @type {{ rounds: string, settle: string }} */ options,
) {
  const script = join(import.meta.dirname, 'measure.mjs');
  const { status, stdout, error } = spawnSync(path, [script, name, options.rounds, options.settle], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0)
    throw new Error(`${path} failed to measure "${name}": ${error?.message ?? `status ${status}`}`);
  return JSON.parse(stdout);
}

function tell(
  /** @type {import('./report.mjs').Report} */ report,
  /** @type {string} */ version,
  /** @type {any[]} */ subjects,
) {
  const columns = WORKLOADS.map((workload) => workload.name);
  const row = (/** @type {(workload: any) => string} */ cell) => (/** @type {any} */ subject) => [
    subject.subject,
    ...subject.workloads.map(cell),
  ];

  const off = ['(off, ns)', ...columns.map((_, i) => subjects[0].workloads[i].offNanos.toFixed(0))];
  const added = row(({ addedNanos, ratio }) => `${interval(addedNanos, 1)} x${ratio.value.toFixed(2)}`);
  report.table(
    `Node.js ${version}: ns added per operation, median [95 % interval], ratio to off`,
    ['', ...columns],
    [off, ...subjects.map(added)],
    subjects,
  );
  const lasting = row(({ offAfterOverBefore: ratio }) => interval(ratio, 2) + (isLasting(ratio) ? ' !' : ''));
  report.table(
    `Node.js ${version}: what stays after disable(): off slices after the first enabling / before it`,
    ['', ...columns],
    subjects.map(lasting),
  );
}

function isLasting(/** @type {Estimate} */ { low }) {
  return low > 1 + LASTING_EFFECT;
}
