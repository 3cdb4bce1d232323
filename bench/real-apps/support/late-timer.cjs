/**
 * Preloaded: when the event loop did not come to a timer of 10 ms for 100 ms and longer, in the
 * file in REAL_APPS_LATE, one JSON a line: what a tool for blocks has to report, known without one.
 */
const { appendFileSync } = require('node:fs');

const LATE_MILLIS = 100;
const now = () => performance.timeOrigin + performance.now();
let last = now();
setInterval(() => {
  const until = now();
  if (until - last >= LATE_MILLIS)
    appendFileSync(
      process.env.REAL_APPS_LATE,
      `${JSON.stringify({ pid: process.pid, from: last, until })}\n`,
    );
  last = now();
}, 10).unref();
