// Code in `vm` that its timeout ends, or SIGINT, while stack samples are due all the time. The
// argument says in which thread, or `SIGINT`.
const { writeSync } = require('node:fs');
const { setTimeout: wait } = require('node:timers/promises');
const { runInNewContext } = require('node:vm');
const { isMainThread, Worker } = require('node:worker_threads');

const RUNS = 80;
/** From this one on, as many as this in a row, with nothing between them. */
const IN_A_ROW = 20;
const FIRST_IN_A_ROW = 40;
/** The last one runs deeper than a stack sample reaches. */
const BODIES = [
  'for (;;);',
  'function f() { return 1; } for (let n = 0; ; ) n += f();',
  'function f(n) { if (n > 0) return f(n - 1) + 1; for (;;); } f(2000);',
];
/** A stack sample every few milliseconds. */
const OPTIONS = {
  thresholdMillis: 10,
  lagIntervalMillis: 10,
  unfinishedAfterMillis: 0,
};
const HANGS_AFTER_MILLIS = 15_000;
const ENDED = ['ERR_SCRIPT_EXECUTION_TIMEOUT', 'ERR_SCRIPT_EXECUTION_INTERRUPTED'];
/** Sends the process SIGINT, as many milliseconds later as it is told. */
const SIGNALS = `require('node:worker_threads').parentPort.on('message', (millis) =>
  setTimeout(() => process.kill(process.pid, 'SIGINT'), millis));`;

async function work() {
  const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
  const keepAlive = setInterval(() => {}, 1000);
  await new EventLoopInstrumentation(OPTIONS).ready();
  const isSignalled = process.argv[2] === 'SIGINT';
  const signals = isSignalled ? new Worker(SIGNALS, { eval: true, execArgv: [] }) : undefined;
  let goesOn = 0;
  for (let i = 0; i < RUNS; i++) {
    const isInARow = i >= FIRST_IN_A_ROW;
    if (!isInARow || i % IN_A_ROW === 0) await wait(2);
    try {
      const millis = isInARow ? 11 + (i % 5) : 15 + (i % 20);
      // Not before it runs: Node.js takes the other listeners off first.
      const begins = () => signals?.postMessage(millis);
      const options = signals === undefined ? { timeout: millis } : { breakOnSigint: true };
      runInNewContext(`begins(); ${BODIES[i % BODIES.length]}`, { begins }, options);
    } catch (error) {
      // What comes next in the same callback is not terminated either.
      if (!isInARow) for (const until = performance.now() + 2; performance.now() < until; );
      if (ENDED.includes(error.code)) goesOn++;
    }
  }
  clearInterval(keepAlive);
  signals?.unref();
  writeSync(1, `${goesOn}`);
}

if (!isMainThread) work();
else {
  const hangs = `setTimeout(() => {
    require('node:fs').writeSync(1, 'hangs');
    process.kill(process.pid, 'SIGKILL');
  }, ${HANGS_AFTER_MILLIS});`;
  new Worker(hangs, { eval: true, env: {}, execArgv: [] }).unref();
  if (process.argv[2] === 'worker') new Worker(__filename);
  else work();
}
