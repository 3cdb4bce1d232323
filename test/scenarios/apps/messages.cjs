// A worker thread and a child process each send a large message. The interval keeps the loop busy,
// as a service does.
const { fork } = require('node:child_process');
const { subscribe } = require('node:diagnostics_channel');
const { once } = require('node:events');
const { isMainThread, parentPort, Worker } = require('node:worker_threads');

const ROWS = 300_000;

const rows = () =>
  Array.from({ length: ROWS }, (_, i) => ({ id: i, name: `row ${i}`, tags: ['a', String(i)] }));
const startThread = () => new Worker(__filename);
const startProcess = () => fork(__filename, ['child']);

async function main() {
  const {
    BLOCK_CHANNEL,
    EventLoopInstrumentation,
  } = require('opentelemetry-instrumentation-event-loop');
  const eventLoop = new EventLoopInstrumentation({ thresholdMillis: 40, unfinishedAfterMillis: 0 });
  const told = [];
  subscribe(BLOCK_CHANNEL, ({ block }) => told.push([block.cause, block.code?.functionName]));
  const interval = setInterval(() => {}, 1);
  const thread = startThread();
  const child = startProcess();
  for (const sender of [thread, child]) {
    // The first one makes it load.
    for (const count of [1, ROWS]) {
      const received = once(sender, 'message');
      (sender.send ?? sender.postMessage).call(sender, count);
      await received;
    }
    await eventLoop.forceFlush();
    console.log(JSON.stringify(told.splice(0)));
  }
  clearInterval(interval);
  child.kill();
  await thread.terminate();
}

if (process.argv[2] === 'child') process.on('message', (n) => process.send(rows().slice(0, n)));
else if (isMainThread) main();
else parentPort.on('message', (n) => parentPort.postMessage(rows().slice(0, n)));
