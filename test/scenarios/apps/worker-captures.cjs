// A worker thread with a name of its own blocks its loop, in a function and in chains of promises.
// The main thread has no SDK; `busy`: it runs for half of the time, in parts that are no block.
const { once } = require('node:events');
const { isMainThread, threadId, Worker } = require('node:worker_threads');

const [, , mainThread] = process.argv;
const BUSY_MILLIS = 10;
const BLOCK_MILLIS = 250;

async function main() {
  const worker = new Worker(__filename, { name: 'resizer', argv: [mainThread] });
  const timer = setInterval(() => {
    if (mainThread !== 'busy') return;
    for (const until = performance.now() + BUSY_MILLIS; performance.now() < until; );
  }, 2 * BUSY_MILLIS);
  await once(worker, 'exit');
  clearInterval(timer);
}

async function work() {
  const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
  const { running } = require('../../support/thread-times.cjs');
  const telemetry = require('./support/telemetry.cjs');
  const { alone, eventLoopConfig, finish, inSpan, note, startSdk, startTruth, truthOf } = telemetry;
  const eventLoop = new EventLoopInstrumentation(eventLoopConfig({ unfinishedAfterMillis: 0 }));
  const sdk = startSdk({ instrumentations: [eventLoop] });
  note('worker thread', threadId);
  note('health before', eventLoop.health());
  const keepAlive = setInterval(() => {}, 1000);
  await eventLoop.ready();

  let hash = 0;
  function resizeImages() {
    const goesOn = running(BLOCK_MILLIS);
    while (goesOn()) for (let i = 0; i < 100_000; i++) hash = Math.imul(hash ^ i, 0x01000193);
  }
  async function resizeStep() {
    for (let i = 0; i < 100_000; i++) hash = Math.imul(hash ^ i, 0x01000193);
  }
  /** V8 interrupts it nearly always between two reactions (Node.js 24). */
  const prices = new Map(Array.from({ length: 1000 }, (_, id) => [id, id]));
  const cache = { get: async (id) => prices.get(id) };
  async function sumPrices() {
    for (const goesOn = running(BLOCK_MILLIS); goesOn(); )
      for (const id of prices.keys()) hash += await cache.get(id);
  }

  await alone(() => inSpan('function', () => truthOf('function', resizeImages)));
  await alone(() =>
    inSpan('promises', async () => {
      const end = startTruth('promises');
      for (const goesOn = running(BLOCK_MILLIS); goesOn(); ) await resizeStep();
      end();
    }),
  );
  for (const name of ['cached 1', 'cached 2', 'cached 3']) {
    await alone(() =>
      inSpan(name, async () => {
        const end = startTruth(name);
        await sumPrices();
        end();
      }),
    );
  }
  note('health after', eventLoop.health(10_000));
  clearInterval(keepAlive);
  await finish(sdk);
}

if (isMainThread) main();
else work();
