// A service with a health server. Each line on standard input names what its main thread does next,
// and the file until whose appearance it does that: nothing else gets through to a blocked thread.
const childProcess = require('node:child_process');
const cluster = require('node:cluster');
const fs = require('node:fs');
const inspector = require('node:inspector');
const { createInterface } = require('node:readline');
const { Worker } = require('node:worker_threads');
const { trace } = require('@opentelemetry/api');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { finish, main, startInstrumented } = require('./support/telemetry.cjs');

const [port, failAfterMillis, startUntil, workerPort] = process.argv.slice(2);
const { eventLoop, sdk } = startInstrumented({
  healthServer: {
    port: Number(cluster.isWorker ? process.env.WORKER_PORT : port),
    failAfterMillis: Number(failAfterMillis),
  },
  unfinishedAfterMillis: 0,
});

if (cluster.isPrimary && workerPort) {
  // One inherits the options of the primary, the other has a port of its own.
  for (const WORKER_PORT of [port, workerPort]) cluster.fork({ WORKER_PORT });
}

/** Nearly nothing of it is garbage: the thread would wait for V8's, which may have no CPU. */
function spin(file) {
  let turns = 0;
  do {
    for (const end = performance.now() + 50; performance.now() < end; )
      for (let i = 0; i < 1e5; i++) turns += i % 7;
  } while (!fs.existsSync(file));
  return turns;
}

function waitInShell(file) {
  childProcess.execFileSync('sh', ['-c', 'until [ -e "$0" ]; do sleep 0.02; done', file]);
}

function openDebugger() {
  inspector.open(0, '127.0.0.1', false);
  process.stdout.write(`debugger ${inspector.url()}\n`);
}

/** With an instrumentation, and a port, of its own. */
function startWorker() {
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
    new EventLoopInstrumentation({ healthServer: { port: workerData } });
    setTimeout(() => parentPort.postMessage('ready'), 500);
    parentPort.on('message', () => {}); // it goes on
  `;
  const worker = new Worker(code, { eval: true, workerData: Number(process.env.WORKER_PORT) });
  worker.once('message', () => {
    worker.unref();
    process.stdout.write('worker is ready\n');
  });
}

function pause() {
  // biome-ignore lint/suspicious/noDebugger: it is what the scenario is about
  debugger;
}

let second;
const actions = {
  spin,
  startWorker,
  waitInShell,
  'open debugger': openDebugger,
  pause,
  /** All in one callback, of which stack samples are taken. */
  async 'open debugger and pause'(file) {
    await eventLoop.ready();
    openDebugger();
    const cell = new Int32Array(new SharedArrayBuffer(4));
    while (!fs.existsSync(file)) Atomics.wait(cell, 0, 0, 10);
    pause();
  },
  exit(file) {
    process.on('exit', () => spin(file));
    process.exit();
  },
  'enable another'() {
    second = new EventLoopInstrumentation({ healthServer: { port: Number(port) } });
  },
  'disable the other': () => second.disable(),
};

if (startUntil) spin(startUntil);

main(sdk, async () => {
  if (cluster.isWorker) {
    process.on('disconnect', () => finish(sdk));
    return;
  }
  process.stdout.write(`ready ${eventLoop.isEnabled()}\n`);
  for await (const line of createInterface({ input: process.stdin })) {
    const [name, file] = line.split('|');
    trace.getTracer('service').startActiveSpan(name, (span) => {
      process.stdout.write(`${name} ${span.spanContext().traceId}\n`);
      actions[name](file);
      span.end();
    });
  }
  if (workerPort) await new Promise((resolve) => cluster.disconnect(resolve));
});
