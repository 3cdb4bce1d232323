// @ts-nocheck: run by hand.
/**
 * Worker threads that end, one after the other, in the middle of a block that is captured all the
 * time. Prints how long each took to end, as JSON. `none`: without the instrumentation.
 *
 *   node exits.cjs exit|terminate|return|main-exit <workers> [none]
 */
const { once } = require('node:events');
const { isMainThread, parentPort, Worker, workerData } = require('node:worker_threads');

const [, , how = 'exit', count = '100', instrumented] = process.argv;
const AT_ONCE = 4;
/** So often that a capture is under way nearly all the time. */
const THRESHOLD_MILLIS = 10;

function work() {
  const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
  const keepAlive = setInterval(() => {}, 1000);
  const isInstrumented = workerData.instrumented !== 'none';
  const eventLoop = isInstrumented
    ? new EventLoopInstrumentation({ thresholdMillis: THRESHOLD_MILLIS, lagIntervalMillis: 10 })
    : undefined;
  const ready = eventLoop?.ready() ?? new Promise((done) => setTimeout(done, 50));
  ready.then(() => {
    setTimeout(() => {
      const until = performance.now() + 20 + Math.random() * 40;
      parentPort.postMessage('blocks');
      while (performance.now() < until || workerData.how === 'terminate');
      parentPort.postMessage('ends');
      clearInterval(keepAlive);
      if (workerData.how === 'exit') process.exit(7);
    }, 20);
  });
}

async function one() {
  const worker = new Worker(__filename, { workerData: { how, instrumented } });
  let endedAt = performance.now();
  worker.on('message', (message) => {
    endedAt = performance.now();
    if (message !== 'blocks' || how !== 'terminate') return;
    setTimeout(
      () => {
        endedAt = performance.now();
        worker.terminate();
      },
      20 + Math.random() * 40,
    );
  });
  const [code] = await once(worker, 'exit');
  return { code, millis: performance.now() - endedAt };
}

async function main() {
  if (how === 'main-exit') {
    const worker = new Worker(__filename, { workerData: { how: 'terminate', instrumented } });
    await once(worker, 'message');
    const at = performance.now() + 20 + Math.random() * 40;
    setTimeout(
      () => {
        process.on('exit', () => {
          const began = performance.now();
          process.on('exit', () => console.log((performance.now() - began).toFixed(1)));
        });
        process.exit(0);
      },
      Math.max(0, at - performance.now()),
    );
    return;
  }
  const exits = [];
  const lane = async () => {
    while (exits.length < Number(count)) {
      exits.push(undefined);
      const i = exits.length - 1;
      exits[i] = await one();
    }
  };
  const rssBefore = process.memoryUsage.rss();
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const millis = exits.map((exit) => exit.millis).sort((a, b) => a - b);
  const codes = [...new Set(exits.map(({ code }) => code))];
  const [p50, max] = [millis[millis.length >> 1], millis.at(-1)];
  const rssMb = [rssBefore, process.memoryUsage.rss()].map((bytes) => bytes / 2 ** 20);
  process.stdout.write(JSON.stringify({ how, count: exits.length, codes, p50, max, rssMb }));
}

if (isMainThread) main();
else work();
