// Guarantees: what is reported of callbacks in a process that is not given a CPU, for each reason:
// throttled (less than one CPU in its container), starved (another process on its CPU), stopped
// (SIGSTOP). How many blocks, and what `event_loop.suspension.duration` has of the time that the
// kernel, or the one who stopped the process, knows of. See docs/operations.md.
// Linux. Throttled takes root: a control group is made, and removed. Starved takes `taskset`. Needs
// the build: `npm run build` first.
//
//   node bench/cpu-quota.mjs
//   node bench/cpu-quota.mjs --node .matrix/node-24/node_modules/.bin/node --quota 50 --burn 120
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Report } from './support/report.mjs';

const { values: options } = parseArgs({
  options: {
    node: { type: 'string', default: process.execPath },
    quota: { type: 'string', default: '20' },
    burn: { type: 'string', default: '40' },
    callbacks: { type: 'string', default: '40' },
    stops: { type: 'string', default: '10' },
  },
});
const PERIOD_MICROS = 100_000;
const quotaMicros = Number(options.quota) * 1000;
const STOP_MILLIS = 200;
/** Neighbours outside the group get next to nothing, so that only the quota limits it. */
const MOST = { v1: '262144', v2: '10000' };

/**
 * Blocks its event loop again and again: by work until so much CPU is used, by a wait, or by work
 * while it is stopped from outside. Says of each job what was reported, and what the kernel knows.
 */
const APP = `
const { readFileSync, writeSync } = require('node:fs');
const { channel } = require('node:diagnostics_channel');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { BURN, CALLBACKS, STOPS, STOP_MILLIS } = process.env;
const counted = () => readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ').map((nanos) => nanos / 1e6);
let hash = 0;
const work = () => { for (let i = 0; i < 20000; i++) hash = Math.imul(hash ^ i, 0x01000193); };
const jobs = {
  [BURN + ' ms of CPU']: () => {
    const end = counted()[0] + Number(BURN);
    while (counted()[0] < end) work();
  },
  'a synchronous wait of 150 ms': () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150),
};
const whileStopped = {
  'work, stopped in it': () => {
    writeSync(1, 'stop\\n');
    for (let last = performance.now(), now = last; ; last = now) {
      work();
      now = performance.now();
      if (now - last > STOP_MILLIS / 2) return;
    }
  },
};
let reported = 0;
channel('opentelemetry-instrumentation-event-loop:block').subscribe(() => reported++);
let suspensions = {};
const record = (seconds, { 'event_loop.suspension.reason': reason }) => {
  const of = (suspensions[reason] ??= { count: 0, millis: 0 });
  of.count++;
  of.millis += seconds * 1e3;
};
const none = { record() {}, add() {} };
const meter = {
  createHistogram: (name) => (name === 'event_loop.suspension.duration' ? { record } : none),
  createCounter: () => none,
};
const eventLoop = new EventLoopInstrumentation();
eventLoop.setMeterProvider({ getMeter: () => meter });
const sleep = (millis) => new Promise((resolve) => setTimeout(resolve, millis));
(async () => {
  const alive = setInterval(() => {}, 100);
  await eventLoop.ready();
  clearInterval(alive);
  for (const [name, job] of Object.entries(process.env.STOPPED ? whileStopped : jobs)) {
    const callbacks = Number(process.env.STOPPED ? STOPS : CALLBACKS);
    await sleep(50);
    reported = 0;
    suspensions = {};
    let long = 0;
    const [, waited] = counted();
    for (let i = 0; i < callbacks; i++) {
      await sleep(120 + (i * 37) % 100);
      const start = performance.now();
      job();
      if (performance.now() - start >= 100) long++;
    }
    await sleep(50);
    await eventLoop.forceFlush();
    const result = { name, callbacks, long, reported, suspensions, waited: counted()[1] - waited };
    console.log('result ' + JSON.stringify(result));
  }
})();
`;

/**
 * Runs the app to its end.
 * @param {string[]} command that runs the rest of its arguments
 * @param {Record<string, string>} [env]
 * @returns {Promise<{ results: any[], stopped: number }>}
 */
async function run(command, env = {}) {
  const [file, ...args] = [...command, options.node, '-e', APP];
  const child = spawn(file, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: import.meta.dirname,
    env: {
      ...process.env,
      BURN: options.burn,
      CALLBACKS: options.callbacks,
      STOPS: options.stops,
      STOP_MILLIS: String(STOP_MILLIS),
      ...env,
    },
  });
  const exit = once(child, 'exit');
  const results = [];
  let stopped = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('result ')) results.push(JSON.parse(line.slice('result '.length)));
    if (line !== 'stop') continue;
    child.kill('SIGSTOP');
    const start = performance.now();
    await wait(STOP_MILLIS);
    stopped += performance.now() - start;
    child.kill('SIGCONT');
  }
  await exit;
  return { results, stopped };
}

/** @param {{ count: number, millis: number } | undefined} of */
const told = (of) => (of === undefined ? '–' : `${of.count}, ${of.millis.toFixed(0)} ms`);

/**
 * @param {string} title
 * @param {Awaited<ReturnType<typeof run>>} figures
 * @param {string} [known] beside the thread's run delay
 */
function print(title, { results, stopped }, known) {
  report.table(
    title,
    [
      'callbacks',
      'took 100 ms or longer',
      'reported as blocks',
      'throttled',
      'starved',
      'stopped',
      'run delay',
    ],
    results.map(({ name, callbacks, long, reported, suspensions, waited }) => [
      `${callbacks}: ${name}`,
      String(long),
      String(reported),
      told(suspensions.throttled),
      told(suspensions.starved),
      told(suspensions.stopped),
      `${waited.toFixed(0)} ms`,
    ]),
    results,
  );
  if (stopped > 0) report.note(`stopped by this process for ${stopped.toFixed(0)} ms`);
  if (known !== undefined) report.note(known);
}

async function throttled() {
  const isV2 = existsSync('/sys/fs/cgroup/cgroup.controllers');
  const group = `/sys/fs/cgroup/${isV2 ? '' : 'cpu/'}event-loop-cpu-quota-${process.pid}`;
  try {
    mkdirSync(group);
  } catch (error) {
    report.note(`throttled: no control group can be made, which takes root: ${error.message}`);
    return;
  }
  try {
    if (isV2) {
      writeFileSync(`${group}/cpu.max`, `${quotaMicros} ${PERIOD_MICROS}`);
      writeFileSync(`${group}/cpu.weight`, MOST.v2);
    } else {
      writeFileSync(`${group}/cpu.cfs_period_us`, String(PERIOD_MICROS));
      writeFileSync(`${group}/cpu.cfs_quota_us`, String(quotaMicros));
      writeFileSync(`${group}/cpu.shares`, MOST.v1);
    }
    const join = `echo $$ > ${group}/cgroup.procs && exec "$@"`;
    const figures = await run(['sh', '-c', join, 'sh']);
    const stat = readFileSync(`${group}/cpu.stat`, 'latin1').match(/^(nr_)?throttled.*$/gm);
    print(
      `throttled: a quota of ${options.quota} ms in ${PERIOD_MICROS / 1000} ms`,
      figures,
      `the group, from start to end, all threads: ${stat?.join(', ')}`,
    );
  } finally {
    rmdirSync(group);
  }
}

async function starved() {
  if (spawnSync('taskset', ['-V']).status !== 0) {
    report.note('starved: there is no taskset here');
    return;
  }
  const allowed = readFileSync('/proc/self/status', 'latin1');
  const pin = ['taskset', '-c', /^Cpus_allowed_list:\s*(\d+)/m.exec(allowed)?.[1] ?? '0'];
  const [file, ...args] = [...pin, options.node, '-e', 'for (;;);'];
  const other = spawn(file, args, { stdio: 'ignore' });
  try {
    print(
      'starved: another process on its CPU has three quarters of it',
      await run(['nice', '-n', '5', ...pin]),
    );
  } finally {
    other.kill('SIGKILL');
  }
}

const report = new Report('cpu-quota');
await throttled();
await starved();
print('stopped: SIGSTOP for 200 ms', await run([], { STOPPED: '1' }));
