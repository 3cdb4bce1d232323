// Fake timers: whose (those of `sinon`, which jest and vitest use, or of `node`), and what comes
// before them (`nothing`, the package is `loaded`, or it is `enabled`). Prints what it has seen.
const { mock } = require('node:test');
const { setImmediate: nextIteration, setTimeout: sleep } = require('node:timers/promises');
const { subscribe } = require('node:diagnostics_channel');
const FakeTimers = require('@sinonjs/fake-timers');
const { running } = require('../../support/thread-times.cjs');

const [by, before] = process.argv.slice(2);
const keepAlive = setInterval(() => {}, 10_000);

function install() {
  if (by === 'node') {
    mock.timers.enable();
    return { timers: () => 0, runAll: () => mock.timers.runAll(), restore: () => mock.reset() };
  }
  // All of them, `nextTick` and `queueMicrotask` too, but what Node.js itself needs for a thread.
  const toFake = Object.keys(FakeTimers.timers).filter((name) => name !== 'nextTick');
  const clock = FakeTimers.install({ toFake });
  const { runAll, countTimers, uninstall } = clock;
  return { timers: countTimers, runAll, restore: uninstall };
}

const load = () => require('opentelemetry-instrumentation-event-loop');
const enable = () => new (load().EventLoopInstrumentation)({ thresholdMillis: 50, console: true });

function inside() {
  for (const goesOn = running(200); goesOn(); ) for (let i = 0; i < 1e5; i++);
}

function afterwards() {
  for (const goesOn = running(200); goesOn(); ) for (let i = 0; i < 1e5; i++);
}

async function main() {
  const blocks = [];
  subscribe('opentelemetry-instrumentation-event-loop:block', ({ block }) => blocks.push(block));
  if (before === 'loaded') load();
  let instrumentation = before === 'enabled' ? enable() : undefined;
  await instrumentation?.ready();
  const fake = install();
  instrumentation ??= enable();
  await instrumentation.ready();
  const timers = fake.timers();
  fake.runAll();
  for (const block of [inside, afterwards]) {
    if (block === afterwards) fake.restore();
    await sleep(100);
    block();
    await nextIteration();
    await instrumentation.forceFlush();
  }
  const ofApplication = blocks.splice(0);
  const { recordBlocks } = require('opentelemetry-instrumentation-event-loop/testing');
  const again = install();
  const recorded = await recordBlocks(inside, { thresholdMillis: 50 });
  again.restore();
  const seen = ({ code, durationMillis: millis, samples }) => ({
    name: code?.functionName,
    millis,
    samples,
  });
  console.log(
    JSON.stringify({ timers, blocks: ofApplication.map(seen), recorded: recorded.map(seen) }),
  );
  clearInterval(keepAlive);
  process.exit();
}

main();
