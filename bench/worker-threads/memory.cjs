// @ts-nocheck: run by hand.
/**
 * What a watched worker thread costs: RSS of a process with so many workers that idle, each without
 * and with the instrumentation. Prints MB.
 *
 *   node memory.cjs 8
 */
const { execFileSync } = require('node:child_process');
const { isMainThread, parentPort, Worker, workerData } = require('node:worker_threads');

const [, , count = '8', mode] = process.argv;
const SETTLE_MILLIS = 2000;

function work() {
  setInterval(() => {}, 1000);
  const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
  const eventLoop = new EventLoopInstrumentation({
    captureStack: workerData === 'captures',
    enabled: workerData !== 'without',
  });
  eventLoop.ready().then(() => parentPort.postMessage('ready'));
}

async function rssOf() {
  const workers = Array.from(
    { length: Number(count) },
    () => new Worker(__filename, { workerData: mode }),
  );
  await Promise.all(workers.map((worker) => new Promise((done) => worker.once('message', done))));
  await new Promise((done) => setTimeout(done, SETTLE_MILLIS));
  process.stdout.write(String(process.memoryUsage.rss() / 2 ** 20), () => process.exit());
}

if (!isMainThread) work();
else if (mode !== undefined) rssOf();
else {
  const rss = (each) =>
    Number(execFileSync(process.execPath, [__filename, count, each], { encoding: 'utf8' }));
  for (const each of ['without', 'no captures', 'captures'])
    console.log(`${process.version} ${count} workers, ${each}: ${rss(each).toFixed(1)} MB`);
}
