// Guarantees: what a capture costs the code that blocks: how long it takes, and how much longer the
// block becomes; see README.md.
//
//   npm run bench -- capture --node .matrix/node-24/node_modules/.bin/node --blocks 200
import diagnosticsChannel from 'node:diagnostics_channel';
import { syncBuiltinESMExports } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { trace } from '@opentelemetry/api';
import { estimate, interval, median, quantile } from '../tools/statistics.cjs';
import { answerInFreshProcess, measureInFreshProcess } from './support/fresh-process.mjs';

const CHANNEL_PREFIX = 'opentelemetry-instrumentation-event-loop.';
const BLOCK_MILLIS = 150;
const WARM_UP_BLOCKS = 10;
const BLOCKS_PER_ROUND = 4;
/** For the watchdog's thread to start or end. */
const SETTLE_MILLIS = 400;
const PAUSE_MILLIS = 30;
/** As deep as a handler of a web framework is. */
const STACK_DEPTH = 30;

const CALIBRATION_STEPS = 1e8;
/** `empty`: the watchdog thread asks, and gets a constant. */
const STATES = ['off', 'empty', 'on'];

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'capture',
  about: 'how long a capture takes, and how much longer the block becomes',
  minutes: 2,
  options: {
    blocks: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '20' },
  },
  async run({ nodes, options, report }) {
    for (const { path, version } of nodes) {
      const measured = measureInFreshProcess(import.meta.url, path, [
        options.blocks,
        options.rounds,
      ]);
      const { lengths, blockMillis, perBlock, added, empty } = measured;
      report.table(
        `Node.js ${version}: ${lengths.length} captures in blocks of ${blockMillis.toFixed(0)} ms`,
        ['milliseconds', 'median', 'p99', 'most'],
        [['inside the capture', ...spread(lengths)]],
        measured,
      );
      report.note(`added per capture: ${interval(added, 2)} ms (${perBlock} captures a block)`);
      report.note(`of that, a session that evaluates a constant: ${interval(empty, 2)} ms`);
    }
  },
};

function spread(/** @type {number[]} */ values) {
  return [median(values), quantile(values, 0.99), Math.max(...values)].map((value) =>
    value.toFixed(2),
  );
}

/** Of the captures so far. */
let lengths = [];
/** What is evaluated takes no sample. */
let isEmpty = false;

await answerInFreshProcess(import.meta.url, measure);

/** Captures of the built package, timed from outside it. */
async function measure(/** @type {string} */ blockCount, /** @type {string} */ roundCount) {
  const [blocks, rounds] = [Number(blockCount), Number(roundCount)];
  watchCaptures();

  process.env.OTEL_METRICS_EXPORTER = 'none';
  process.env.OTEL_LOGS_EXPORTER = 'none';
  const { NodeSDK } = await import('@opentelemetry/sdk-node');
  const { EventLoopInstrumentation } = await import('opentelemetry-instrumentation-event-loop');
  const instrumentation = new EventLoopInstrumentation();
  const onEnd = () => {};
  const done = async () => {};
  const processor = { onStart: onEnd, onEnd, forceFlush: done, shutdown: done };
  new NodeSDK({ spanProcessors: [processor], instrumentations: [instrumentation] }).start();

  const steps = calibrate();
  await sleep(SETTLE_MILLIS);
  await lengthsOf(WARM_UP_BLOCKS, steps);
  lengths = [];
  const blockMillis = median(await lengthsOf(blocks, steps));
  const captured = [...lengths];
  if (captured.length === 0) throw new Error('nothing was captured');

  const added = [];
  const empty = [];
  const perBlock = [];
  for (let round = 0; round < rounds; round++) {
    /** @type {Record<string, number>} */
    const length = {};
    // Which one comes first changes from round to round, so that no drift favours either.
    for (const state of round % 2 === 0 ? STATES : STATES.toReversed()) {
      instrumentation.setConfig({ captureStack: state !== 'off' });
      isEmpty = state === 'empty';
      await sleep(SETTLE_MILLIS);
      lengths = [];
      length[state] = median(await lengthsOf(BLOCKS_PER_ROUND, steps));
      if (state === 'on') perBlock.push(lengths.length / BLOCKS_PER_ROUND);
    }
    added.push((length.on - length.off) / perBlock[round]);
    empty.push((length.empty - length.off) / perBlock[round]);
  }
  return {
    node: process.version,
    blockMillis,
    lengths: captured,
    perBlock: median(perBlock),
    added: estimate(added),
    empty: estimate(empty),
  };
}

/** Wraps what a capture has to come through: the function at the channel. */
function watchCaptures() {
  const { channel } = diagnosticsChannel;
  diagnosticsChannel.channel = (name) => {
    const found = channel(name);
    if (String(name).startsWith(CHANNEL_PREFIX) && !Object.hasOwn(found, 'answer')) {
      let answer;
      const timed = () => {
        const start = performance.now();
        const reply = isEmpty ? 'taken' : answer();
        lengths.push(performance.now() - start);
        return reply;
      };
      Object.defineProperty(found, 'answer', {
        get: () => answer && timed,
        set: (given) => {
          answer = given;
        },
      });
    }
    return found;
  };
  syncBuiltinESMExports();
}

/** Milliseconds of each of `count` blocks, all of the same work. */
async function lengthsOf(/** @type {number} */ count, /** @type {number} */ steps) {
  const tracer = trace.getTracer('bench');
  const millis = [];
  for (let i = 0; i < count; i++) {
    await sleep(PAUSE_MILLIS);
    millis.push(
      tracer.startActiveSpan('block', (span) => {
        const start = performance.now();
        nest(STACK_DEPTH, steps);
        span.end();
        return performance.now() - start;
      }),
    );
  }
  return millis;
}

function nest(/** @type {number} */ depth, /** @type {number} */ count) {
  return depth === 0 ? work(count) : nest(depth - 1, count) + 1;
}

function work(/** @type {number} */ count) {
  let x = 1;
  for (let i = 0; i < count; i++) x = Math.imul(x ^ i, 0x9e3779b1) ^ (x >>> 15);
  return x;
}

/** Steps of work that take at least a block's time. */
function calibrate() {
  nest(STACK_DEPTH, CALIBRATION_STEPS);
  const millis = Array.from({ length: 5 }, () => {
    const start = performance.now();
    nest(STACK_DEPTH, CALIBRATION_STEPS);
    return performance.now() - start;
  });
  return Math.round((CALIBRATION_STEPS * BLOCK_MILLIS) / Math.min(...millis));
}
