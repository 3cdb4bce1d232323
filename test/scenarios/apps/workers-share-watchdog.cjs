// Two worker threads block at the same time, watched by the same watchdog thread; once more after
// that has died.
const { once } = require('node:events');
const { setTimeout: wait } = require('node:timers/promises');
const { isMainThread, parentPort, Worker, workerData } = require('node:worker_threads');

const BLOCK_MILLIS = 250;
/** It is started again after a second, and asked to watch after that. */
const RESTART_MILLIS = 2000;

async function main() {
  const others = [];
  process.on('worker', (worker) => others.push(worker));
  const workers = ['a', 'b'].map((name) => new Worker(__filename, { workerData: name }));
  const all = (event) => Promise.all(workers.map((worker) => once(worker, event)));
  const watchdogs = () => others.filter((worker) => !workers.includes(worker));
  const ask = async (what) => {
    const answers = all('message');
    for (const worker of workers) worker.postMessage(what);
    await answers;
  };
  await all('message');
  await ask('first');
  const first = watchdogs();
  await Promise.all(first.map((worker) => worker.terminate()));
  await wait(RESTART_MILLIS);
  await ask('second');
  const ended = all('exit');
  for (const worker of workers) worker.postMessage('end');
  await ended;
  process.stdout.write(JSON.stringify([first.length, watchdogs().length]));
}

async function work() {
  const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
  const { running } = require('../../support/thread-times.cjs');
  const { eventLoopConfig, finish, inSpan, startSdk, truthOf } = require('./support/telemetry.cjs');
  const eventLoop = new EventLoopInstrumentation(eventLoopConfig({ unfinishedAfterMillis: 0 }));
  const sdk = startSdk({ instrumentations: [eventLoop] });

  let hash = 0;
  function resizeImages() {
    const goesOn = running(BLOCK_MILLIS);
    while (goesOn()) for (let i = 0; i < 100_000; i++) hash = Math.imul(hash ^ i, 0x01000193);
  }
  function parseRows() {
    const goesOn = running(BLOCK_MILLIS);
    while (goesOn()) for (let i = 0; i < 100_000; i++) hash = Math.imul(hash ^ i, 0x85ebca6b);
  }

  parentPort.on('message', (what) => {
    if (what === 'end') {
      parentPort.close();
      finish(sdk);
      return;
    }
    setImmediate(() => {
      inSpan(what, () => {
        truthOf(`${what} of ${workerData}`, workerData === 'a' ? resizeImages : parseRows);
      });
      setImmediate(() => parentPort.postMessage('blocked'));
    });
  });
  await eventLoop.ready();
  parentPort.postMessage('ready');
}

if (isMainThread) main();
else work();
