// Guarantees: what the instrumentation adds to the operations a service makes millions of, beside
// what an empty hook adds, per `asyncHooks` mode and Node.js; see README.md.
//
//   npm run bench -- hooks --node .matrix/node-24/node_modules/.bin/node --node /usr/bin/node
//   npm run bench -- hooks --only "asyncHooks: 'auto'" --rounds 100
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { estimate, interval, median, ratioOfMedians } from '../tools/statistics.cjs';
import { period, prepareProcess } from './hooks/period.mjs';
import { SUBJECTS } from './hooks/subjects.mjs';
import { WORKLOADS } from './hooks/workloads.mjs';
import { answerInFreshProcess, measureInFreshProcess } from './support/fresh-process.mjs';

/** @import { Estimate } from '../tools/statistics.cjs' */
/** @import { Period } from './hooks/period.mjs' */

/**
 * Off slices after the first enabling that are slower than those before it by more than this are
 * pointed out.
 */
const LASTING_EFFECT = 0.05;
/** On and off this often before it counts: what is switched has to be compiled too. */
const WARM_UP_ROUNDS = 5;
/** In place of a subject's name: the process that only measures. */
const TWIN = 'twin';

/** @type {import('./support/registry.mjs').Bench} */
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
      // Each has a process to itself: what promise hooks leave behind in V8 must not reach the next
      // one.
      const subjects = options.only.map((/** @type {string} */ name) =>
        measureInFreshProcess(import.meta.url, path, [name, options.rounds, options.settle]),
      );
      printResults(report, version, subjects);
    }
  },
};

function printResults(
  /** @type {import('./support/report.mjs').Report} */ report,
  /** @type {string} */ version,
  /** @type {any[]} */ subjects,
) {
  const columns = WORKLOADS.map((workload) => workload.name);
  const row = (/** @type {(workload: any) => string} */ cell) => (/** @type {any} */ subject) => [
    subject.subject,
    ...subject.workloads.map(cell),
  ];

  const off = ['(off, ns)', ...columns.map((_, i) => subjects[0].workloads[i].offNanos.toFixed(0))];
  const added = row(
    ({ addedNanos, ratio }) => `${interval(addedNanos, 1)} x${ratio.value.toFixed(2)}`,
  );
  report.table(
    `Node.js ${version}: ns added per operation, median [95 % interval], ratio to off`,
    ['', ...columns],
    [off, ...subjects.map(added)],
    subjects,
  );
  const lasting = row(
    ({ offAfterOverBefore: ratio }) => interval(ratio, 2) + (isLasting(ratio) ? ' !' : ''),
  );
  report.table(
    `Node.js ${version}: what stays after disable(): off slices after the first enabling / before it`,
    ['', ...columns],
    subjects.map(lasting),
  );
}

function isLasting(/** @type {Estimate} */ { low }) {
  return low > 1 + LASTING_EFFECT;
}

if (process.argv[2] === TWIN) await serveAsTwin();
else await answerInFreshProcess(import.meta.url, measure);

/** One subject: off and on in turn. */
async function measure(
  /** @type {string} */ name,
  /** @type {string} */ roundCount,
  /** @type {string} */ settle,
) {
  const [rounds, settleMillis] = [Number(roundCount), Number(settle)];
  const subject = SUBJECTS.find((candidate) => candidate.name === name);
  if (subject === undefined) throw new Error(`no such subject: ${name}`);
  const twin = fork(fileURLToPath(import.meta.url), [TWIN]);
  await once(twin, 'message');
  await prepareProcess();

  /**
   * Off periods before anything of the subject was loaded, and after it had been on; each with the
   * twin's beside it.
   */
  const before = { own: [], twin: [] };
  const offs = { own: [], twin: [] };
  /** @type {Period[]} */
  const ons = [];

  for (let round = 0; round < rounds; round++) {
    before.own.push(await period(settleMillis));
    before.twin.push(await periodOf(twin, settleMillis));
  }

  const { on, off } = await subject.prepare();
  for (let round = 0; round < WARM_UP_ROUNDS; round++) {
    on();
    await period(settleMillis);
    off();
    await period(settleMillis);
  }

  for (let round = 0; round < rounds; round++) {
    // Which one comes first changes from round to round, so that no drift favours either.
    for (const isOn of round % 2 === 0 ? [false, true] : [true, false]) {
      if (isOn) on();
      (isOn ? ons : offs.own).push(await period(settleMillis));
      if (isOn) off();
    }
    offs.twin.push(await periodOf(twin, settleMillis));
  }
  twin.disconnect();

  const workloads = WORKLOADS.map(({ name: workload }) => {
    const of = (/** @type {Period[]} */ periods) => periods.map((values) => values[workload]);
    const ratios = (/** @type {Period[]} */ some, /** @type {Period[]} */ others) =>
      some.map((values, i) => values[workload] / others[i][workload]);
    return {
      workload,
      offNanos: median(of(offs.own)),
      onNanos: median(of(ons)),
      addedNanos: estimate(of(ons).map((nanos, i) => nanos - of(offs.own)[i])),
      ratio: estimate(ratios(ons, offs.own)),
      offAfterOverBefore: ratioOfMedians(
        ratios(offs.own, offs.twin),
        ratios(before.own, before.twin),
      ),
    };
  });
  return { subject: name, node: process.version, rounds, workloads };
}

/**
 * A process like the measured one in which nothing is ever switched on. A shared machine may run
 * half as fast a minute later, so "the same as before?" can only be answered relative to a process
 * that runs in the same minutes.
 */
async function serveAsTwin() {
  await prepareProcess();
  process.on('message', async (settleMillis) => process.send(await period(Number(settleMillis))));
  process.on('disconnect', () => process.exit());
  process.send('ready');
}

/** @returns {Promise<Period>} */
async function periodOf(
  /** @type {import('node:child_process').ChildProcess} */ twin,
  /** @type {number} */ settleMillis,
) {
  twin.send(settleMillis);
  const [values] = await once(twin, 'message');
  return values;
}
