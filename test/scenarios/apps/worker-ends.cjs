// Worker threads that end while stack samples are taken of them all the time. The argument says
// how.
const { once } = require('node:events');
const { setTimeout: wait } = require('node:timers/promises');
const { isMainThread, parentPort, Worker } = require('node:worker_threads');

const [, , how, millis] = process.argv;
/** By others, in the middle of its block. */
const isEnded = how === 'terminate' || how === 'SIGTERM';
const WORKERS = 4;
/** A stack sample every few milliseconds. */
const OPTIONS = { thresholdMillis: 10, lagIntervalMillis: 10, unfinishedAfterMillis: 2000 };
/** In which a block that was terminated would be reported as one that does not end. */
const TERMINATED_MILLIS = 2500;

async function main() {
  for (let i = 0; i < WORKERS; i++) {
    const worker = new Worker(__filename, { argv: [how] });
    const exit = once(worker, 'exit');
    await once(worker, 'message');
    // Not at the same moment of a capture each time.
    if (how === 'terminate') setTimeout(() => worker.terminate(), 40 + 7 * i);
    if (how === 'SIGTERM') setTimeout(() => process.kill(process.pid, how), Number(millis));
    const [code] = await exit;
    process.stdout.write(`${code}\n`);
  }
  if (how === 'terminate') await wait(TERMINATED_MILLIS);
}

async function work() {
  const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
  const keepAlive = setInterval(() => {}, 1000);
  await new EventLoopInstrumentation(OPTIONS).ready();
  setTimeout(() => {
    parentPort.postMessage('blocks');
    for (const until = performance.now() + 60; isEnded || performance.now() < until; );
    if (how === 'process.exit') process.exit(7);
    clearInterval(keepAlive);
  }, 20);
}

if (isMainThread) main();
else work();
