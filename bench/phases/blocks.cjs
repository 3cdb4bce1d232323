/**
 * Blocks of two phases, one after the other; sends what this package says of each. Started by
 * phases.mjs: `node blocks.cjs <rounds>`.
 */
const { pbkdf2Sync } = require('node:crypto');
const { setTimeout: wait } = require('node:timers/promises');
const { NodeSDK } = require('@opentelemetry/sdk-node');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');

/** Long enough for rare captures. */
const LENGTHS = [1000, 1700, 2900];
/** Of JavaScript. */
const SHARES = [0.2, 0.5, 0.8];
const ITERATIONS = 100_000;
const SETTLE_MILLIS = 200;
const rounds = Number(process.argv[2]);

function computeRows(millis) {
  let hash = 0;
  for (const end = performance.now() + millis; performance.now() < end; )
    for (let i = 0; i < 1e4; i++) hash = Math.imul(hash ^ i, 0x01000193);
  return hash;
}

function deriveKey(iterations) {
  const key = pbkdf2Sync('secret', 'salt', iterations, 64, 'sha512');
  return key.length;
}

function timeOf(work, argument) {
  const start = performance.now();
  work(argument);
  return performance.now() - start;
}

/** Attributes of the latest block. */
let latest;
process.env.OTEL_LOGS_EXPORTER = 'none';
process.env.OTEL_METRICS_EXPORTER = 'none';
new NodeSDK({
  autoDetectResources: false,
  spanProcessors: [
    {
      onStart() {},
      onEnd({ attributes }) {
        latest = attributes;
      },
      async forceFlush() {},
      async shutdown() {},
    },
  ],
  instrumentations: [new EventLoopInstrumentation({ thresholdMillis: 100 })],
}).start();

/** From `computeRows 81%, deriveKey 19%`. */
function shareOf(name) {
  const shares = String(latest?.['event_loop.block.top_functions'] ?? '').split(', ');
  const share = shares.find((each) => each.startsWith(`${name} `));
  return share === undefined ? 0 : Number.parseInt(share.slice(name.length), 10) / 100;
}

/** In an iteration of its own. */
async function blockFor(javascript, native, isNativeFirst) {
  await wait(SETTLE_MILLIS);
  latest = undefined;
  const times = {};
  const phases = [
    ['computeRows', () => timeOf(computeRows, javascript)],
    ['deriveKey', () => timeOf(deriveKey, native)],
  ];
  for (const [name, run] of isNativeFirst ? phases.reverse() : phases) times[name] = run();
  await wait(SETTLE_MILLIS);
  return times;
}

async function main() {
  const millisOfIteration = timeOf(deriveKey, ITERATIONS) / ITERATIONS;
  const blocks = [];
  await wait(1000);
  for (let round = 0; round < rounds; round++) {
    for (const share of SHARES) {
      for (const isNativeFirst of [false, true]) {
        const millis = LENGTHS[round % LENGTHS.length];
        const iterations = Math.round((millis * (1 - share)) / millisOfIteration);
        const times = await blockFor(millis * share, iterations, isNativeFirst);
        const total = times.computeRows + times.deriveKey;
        const heavier = times.computeRows > times.deriveKey ? 'computeRows' : 'deriveKey';
        const [js, native] = [100 * share, 100 - 100 * share].map(Math.round);
        blocks.push({
          shape: isNativeFirst
            ? `native ${native} : JavaScript ${js}`
            : `JavaScript ${js} : native ${native}`,
          millis: total,
          error: Math.abs(shareOf('computeRows') - times.computeRows / total),
          isHeavier: latest?.['code.function.name'] === heavier,
          named: latest?.['code.function.name'],
          topFunctions: latest?.['event_loop.block.top_functions'],
        });
      }
    }
  }
  process.send(blocks);
}
main();
