// What an application does in an AsyncLocalStorage, a request for one: prints which of its stores
// are alive afterwards. With `--expose-gc`.
const { AsyncLocalStorage } = require('node:async_hooks');
const { setImmediate: nextIteration } = require('node:timers/promises');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { recordBlocks } = require('opentelemetry-instrumentation-event-loop/testing');

const storage = new AsyncLocalStorage();
const keepAlive = setInterval(() => {}, 10_000);
const options = { thresholdMillis: 50 };
const alive = [];
let instrumentation;

function blocks() {
  for (const before = process.cpuUsage(); process.cpuUsage(before).user < 100_000; )
    for (let i = 0; i < 1e6; i++);
}

async function inStore(name, action) {
  let store = { name };
  const reference = new WeakRef(store);
  await storage.run(store, action);
  store = undefined;
  await instrumentation.ready();
  await instrumentation.forceFlush();
  for (let i = 0; i < 5; i++) {
    await nextIteration();
    global.gc();
  }
  if (reference.deref() !== undefined) alive.push(name);
}

async function main() {
  await inStore('enable', () => {
    instrumentation = new EventLoopInstrumentation(options);
  });
  // Its line is explained by a thread, which waits for more to do.
  await inStore('block', blocks);
  await inStore('setConfig', () => instrumentation.setConfig({ ...options, console: true }));
  await inStore('recordBlocks', async () => {
    await recordBlocks(blocks);
  });
  await inStore('enable again', () => {
    instrumentation.disable();
    instrumentation.enable();
  });
  console.log(JSON.stringify(alive));
  clearInterval(keepAlive);
  process.exit();
}

main();
//# sourceMappingURL=stores.cjs.map
