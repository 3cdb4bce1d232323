// Promises: one subject, weighed in one fresh process: off and on in turn, as JSON on stdout.
// Started by hooks.mjs: `node bench/measure.mjs <subject> <rounds> <settle milliseconds>`.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { period, prepareProcess } from './period.mjs';
import { estimate, median, ratioOfMedians } from './statistics.mjs';
import { SUBJECTS } from './subjects.mjs';
import { WORKLOADS } from './workloads.mjs';

/** @import { Period } from './period.mjs' */

/** On and off this often before it counts: what is switched has to be compiled too. */
const WARM_UP_ROUNDS = 5;

const [name, rounds, settleMillis] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const subject = SUBJECTS.find((candidate) => candidate.name === name);
if (subject === undefined) throw new Error(`no such subject: ${name}`);

const twin = fork(join(import.meta.dirname, 'twin.mjs'));
await once(twin, 'message');
await prepareProcess();

/** Off periods before anything of the subject was loaded, and after it had been on; each with the twin's beside it. */
const before = { own: [], twin: [] };
const offs = { own: [], twin: [] };
/** @type {Period[]} */
const ons = [];

for (let round = 0; round < rounds; round++) {
  before.own.push(await period(settleMillis));
  before.twin.push(await twinPeriod());
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
  offs.twin.push(await twinPeriod());
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
    offAfterOverBefore: ratioOfMedians(ratios(offs.own, offs.twin), ratios(before.own, before.twin)),
  };
});
process.stdout.write(JSON.stringify({ subject: name, node: process.version, rounds, workloads }));

/** @returns {Promise<Period>} */
async function twinPeriod() {
  twin.send(settleMillis);
  const [values] = await once(twin, 'message');
  return values;
}
