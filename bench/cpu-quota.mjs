// Promises: what is reported of callbacks in a container with less than one CPU;
// see docs/troubleshooting.md.
// Linux, and root: it makes a control group of its own, and removes it. Needs the build: `npm run
// build` first.
//
//   node bench/cpu-quota.mjs
//   node bench/cpu-quota.mjs --node .matrix/node-24/node_modules/.bin/node --quota 50 --burn 120
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Report } from './support/report.mjs';

const { values: options } = parseArgs({
  options: {
    node: { type: 'string', default: process.execPath },
    quota: { type: 'string', default: '20' },
    burn: { type: 'string', default: '40' },
  },
});
const PERIOD_MICROS = 100_000;
const quotaMicros = Number(options.quota) * 1000;
/** Neighbours outside the group get next to nothing, so that only the quota limits it. */
const MOST = { v1: '262144', v2: '10000' };

const isV2 = existsSync('/sys/fs/cgroup/cgroup.controllers');
const group = `/sys/fs/cgroup/${isV2 ? '' : 'cpu/'}event-loop-cpu-quota-${process.pid}`;

/** Blocks its event loop again and again: by work until so much CPU is used, or by a wait. */
const APP = `
const { channel } = require('node:diagnostics_channel');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const cpu = () => { const { user, system } = (process.threadCpuUsage ?? process.cpuUsage).call(process); return (user + system) / 1000; };
let hash = 0;
const jobs = {
  [process.env.BURN + ' ms of CPU']: () => {
    const end = cpu() + Number(process.env.BURN);
    while (cpu() < end) for (let i = 0; i < 20000; i++) hash = Math.imul(hash ^ i, 0x01000193);
  },
  'a synchronous wait of 150 ms': () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150),
};
let reported = 0;
channel('opentelemetry-instrumentation-event-loop:block').subscribe(() => reported++);
const eventLoop = new EventLoopInstrumentation();
const sleep = (millis) => new Promise((resolve) => setTimeout(resolve, millis));
(async () => {
  await sleep(500);
  for (const [name, job] of Object.entries(jobs)) {
    reported = 0;
    let long = 0;
    for (let i = 0; i < 40; i++) {
      await sleep(120 + (i * 37) % 100);
      const start = performance.now();
      job();
      if (performance.now() - start >= 100) long++;
    }
    await eventLoop.forceFlush();
    console.log('40 callbacks, ' + name + ': ' + long + ' took 100 ms or longer, ' + reported + ' were reported');
  }
})();
`;

new Report(`a quota of ${options.quota} ms in ${PERIOD_MICROS / 1000} ms`);
try {
  mkdirSync(group);
} catch (error) {
  console.error(`cannot make a control group, which takes root: ${error.message}`);
  process.exit(1);
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
  execFileSync(
    'sh',
    ['-c', `echo $$ > ${group}/cgroup.procs && exec "$@"`, 'sh', options.node, '-e', APP],
    {
      stdio: 'inherit',
      cwd: import.meta.dirname,
      env: { ...process.env, BURN: options.burn },
    },
  );
} finally {
  rmdirSync(group);
}
