// Guarantees: how far the start and the length of a block are off, beside what the service measures
// itself: alone in its iteration, and in a saturated loop; see README.md.
//
//   npm run bench -- lengths --node .matrix/node-24/node_modules/.bin/node --blocks 100
import { subscribe } from 'node:diagnostics_channel';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { median, quantile } from '../tools/statistics.cjs';
import { answerInFreshProcess, measureInFreshProcess } from './support/fresh-process.mjs';

const THRESHOLD_MILLIS = 100;
const BLOCK_MILLIS = 150;
const STEP_MILLIS = 3;
const PAUSE_MILLIS = 60;
/** Until the load has settled, and the watchdog thread watches. */
const SETTLE_MILLIS = 1000;

const PLACES = {
  scope: 'a handler, in its scope',
  await: 'after an `await` of a file',
};

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'lengths',
  about: 'how far start and length of a block are off, alone and in a saturated loop',
  minutes: 4,
  options: {
    blocks: { type: 'string', default: '100' },
    connections: { type: 'string', multiple: true, default: ['0', '16', '32'] },
    mode: { type: 'string', multiple: true, default: ['auto', 'always'] },
  },
  async run({ nodes, options, report }) {
    for (const { path, version } of nodes) {
      const rows = [];
      const all = [];
      for (const mode of options.mode) {
        for (const connections of options.connections) {
          const args = [mode, connections, options.blocks];
          const measured = measureInFreshProcess(import.meta.url, path, args);
          all.push(measured);
          for (const [place, what] of Object.entries(PLACES)) {
            const { found, blocks, starts, lengths } = measured.places[place];
            const row = [mode, connections, what, `${found} of ${blocks}`];
            rows.push([...row, spread(starts), spread(lengths)]);
          }
        }
      }
      report.table(
        `Node.js ${version}: blocks of ${BLOCK_MILLIS} ms, steps of ${STEP_MILLIS} ms beside them; ` +
          'ms: median, p90, most',
        ['asyncHooks', 'connections', 'block', 'found', 'start too early', 'too long'],
        rows,
        all,
      );
    }
  },
};

function spread(/** @type {number[]} */ values) {
  if (values.length === 0) return '–';
  const figures = [median(values), quantile(values, 0.9), Math.max(...values)];
  return figures.map((value) => value.toFixed(1)).join(', ');
}

function spin(/** @type {number} */ millis) {
  const end = performance.now() + millis;
  while (performance.now() < end);
}

/**
 * A client in a thread of its own, which keeps so many connections busy; with none, it sends one
 * request every 20 ms.
 */
const CLIENT = `
const { workerData: { port, connections } } = require('node:worker_threads');
const { Agent, get } = require('node:http');
const agent = new Agent({ keepAlive: true, maxSockets: Math.max(1, connections) });
const next = () =>
  get({ port, agent }, (response) => response.resume().on('end', connections > 0 ? next : () => {}));
for (let i = 0; i < connections; i++) next();
if (connections === 0) setInterval(next, 20);
`;

async function measure(
  /** @type {'auto' | 'always'} */ asyncHooks,
  /** @type {string} */ connectionCount,
  /** @type {string} */ blockCount,
) {
  const [connections, blocks] = [Number(connectionCount), Number(blockCount)];
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const { EventLoopInstrumentation, BLOCK_CHANNEL } = await import(
    'opentelemetry-instrumentation-event-loop'
  );
  const instrumentation = new EventLoopInstrumentation({
    asyncHooks,
    thresholdMillis: THRESHOLD_MILLIS,
  });
  /** @type {{ start: number, length: number }[]} */
  const reported = [];
  subscribe(BLOCK_CHANNEL, (message) => {
    const { block } = /** @type {any} */ (message);
    const start = block.startTimeMillis - performance.timeOrigin;
    reported.push({ start, length: block.durationMillis });
  });

  /** @type {{ place: string, start: number, length: number }[]} */
  const truths = [];
  const heavy = (/** @type {string} */ place) => {
    const start = performance.now();
    spin(BLOCK_MILLIS);
    truths.push({ place, start, length: performance.now() - start });
  };
  /** The place that the next request blocks in. */
  let wanted = '';
  const server = createServer((_request, response) => {
    const span = trace.wrapSpanContext({
      traceId: '1'.repeat(32),
      spanId: '2'.repeat(16),
      traceFlags: 1,
    });
    context.with(trace.setSpan(ROOT_CONTEXT, span), async () => {
      const place = wanted;
      wanted = '';
      if (place === 'await') await readFile(new URL(import.meta.url));
      if (place === '') spin(STEP_MILLIS);
      else heavy(place);
      response.end('ok');
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const worker = new Worker(CLIENT, { eval: true, workerData: { port, connections } });
  await instrumentation.ready();
  await sleep(SETTLE_MILLIS);
  for (let i = 0; i < blocks; i++) {
    for (const place of Object.keys(PLACES)) {
      wanted = place;
      const count = truths.length;
      while (truths.length === count) await sleep(1);
      await sleep(PAUSE_MILLIS);
    }
  }
  await sleep(SETTLE_MILLIS);
  await worker.terminate();
  server.close();

  const places = Object.keys(PLACES).map((place) => {
    const own = truths.filter((truth) => truth.place === place);
    const pairs = own.flatMap((truth) => {
      const middle = truth.start + truth.length / 2;
      const block = reported.find((r) => r.start <= middle && r.start + r.length >= middle);
      return block === undefined ? [] : [{ truth, block }];
    });
    return [
      place,
      {
        blocks: own.length,
        found: pairs.length,
        starts: pairs.map(({ truth, block }) => truth.start - block.start),
        lengths: pairs.map(({ truth, block }) => block.length - truth.length),
      },
    ];
  });
  return { node: process.version, asyncHooks, connections, places: Object.fromEntries(places) };
}

await answerInFreshProcess(import.meta.url, measure);
