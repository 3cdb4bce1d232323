/**
 * Preloaded: when the event loop did not come to a timer of 10 ms for 100 ms and longer, and how
 * much CPU its thread had meanwhile, one JSON a line in the file in REAL_APPS_LATE: what a tool for
 * blocks has to report, known without one. Linux only.
 */
const { appendFileSync, openSync, readSync } = require('node:fs');

const LATE_MILLIS = 100;
const schedstat = openSync('/proc/thread-self/schedstat', 'r');
const buffer = Buffer.alloc(128);
const cpuMillis = () =>
  Number.parseInt(buffer.latin1Slice(0, readSync(schedstat, buffer, 0, 128, 0)), 10) / 1e6;
const now = () => performance.timeOrigin + performance.now();
let from = now();
let cpuFrom = cpuMillis();
setInterval(() => {
  const until = now();
  if (until - from >= LATE_MILLIS) {
    const line = { pid: process.pid, from, until, cpuMillis: cpuMillis() - cpuFrom };
    appendFileSync(process.env.REAL_APPS_LATE, `${JSON.stringify(line)}\n`);
  }
  from = now();
  cpuFrom = cpuMillis();
}, 10).unref();
