// Promises: what the instrumentation adds to the CPU time of a request to an Express service that is traced, watchdog
// thread included; see README.md. Needs the build: `npm run build` first.
//
//   npm run bench:http
//   npm run bench:http -- --node .matrix/node-24/node_modules/.bin/node --only defaults --rounds 40
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { printMachine } from './machine.mjs';
import { startService } from './service-client.mjs';
import { estimate, interval, median, quantile } from './statistics.mjs';
import { SERVICE_SUBJECTS } from './subjects.mjs';
import { table } from './table.mjs';

/** On and off this often before it counts. */
const WARM_UP_ROUNDS = 4;

const { values: options } = parseArgs({
  options: {
    node: { type: 'string', multiple: true, default: [process.execPath] },
    only: { type: 'string', multiple: true, default: Object.keys(SERVICE_SUBJECTS) },
    rounds: { type: 'string', default: '20' },
    slice: { type: 'string', default: '1200' },
    settle: { type: 'string', default: '400' },
    connections: { type: 'string', default: '16' },
  },
});
const [rounds, sliceMillis, settleMillis, connections] = [
  Number(options.rounds),
  Number(options.slice),
  Number(options.settle),
  Number(options.connections),
];

/** @typedef {{ cpu: number, p50: number, p99: number, perSecond: number }} Slice microseconds of CPU per request, milliseconds, requests */

printMachine(`${rounds} rounds of ${sliceMillis} ms on and off, ${connections} connections`);
for (const path of options.node) {
  const rows = [];
  for (const subject of options.only) rows.push(row(subject, await measure(path, subject)));
  console.log(`\n${path}: on/off, median [95 % interval]; latency in ms, off -> on`);
  console.log(table(['', 'CPU per request', 'off, µs', 'p50', 'p99', 'requests/s, off'], rows));
}

/** @returns {Promise<Record<'on' | 'off', Slice[]>>} */
async function measure(/** @type {string} */ path, /** @type {string} */ subject) {
  const service = await startService(path, subject);
  const load = startLoad(service.port);
  /** @type {Record<'on' | 'off', Slice[]>} */
  const slices = { on: [], off: [] };
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    // Which one comes first changes from round to round, so that no drift favours either.
    for (const state of round % 2 === 0 ? ['off', 'on'] : ['on', 'off']) {
      await service.ask(state);
      // The start or end of the watchdog's thread is the price of switching, not of running.
      await sleep(settleMillis);
      const before = await service.ask('read');
      load.take();
      await sleep(sliceMillis);
      const after = await service.ask('read');
      const latencies = load.take();
      const requests = after.requests - before.requests;
      if (round < 0) continue;
      slices[state].push({
        cpu: (after.cpu - before.cpu) / requests,
        p50: quantile(latencies, 0.5),
        p99: quantile(latencies, 0.99),
        perSecond: (requests / (after.at - before.at)) * 1000,
      });
    }
  }
  await load.stop();
  await service.stop();
  return slices;
}

/** Keep-alive connections, each with one request under way at any time. */
function startLoad(/** @type {number} */ port) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  /** @type {number[]} */
  let latencies = [];
  let running = true;
  const request = () =>
    new Promise((resolve, reject) => {
      get({ port, host: '127.0.0.1', path: '/items/7', agent }, (response) =>
        response.resume().on('end', resolve),
      ).on('error', reject);
    });
  const connection = async () => {
    while (running) {
      const start = performance.now();
      await request();
      latencies.push(performance.now() - start);
    }
  };
  const all = Promise.all(Array.from({ length: connections }, connection));
  return {
    /** Latencies since the last time. */
    take() {
      const taken = latencies;
      latencies = [];
      return taken;
    },
    async stop() {
      running = false;
      await all;
      agent.destroy();
    },
  };
}

function row(/** @type {string} */ subject, /** @type {Record<'on' | 'off', Slice[]>} */ { on, off }) {
  const ratio = estimate(on.map(({ cpu }, i) => cpu / off[i].cpu));
  const of = (/** @type {Slice[]} */ slices, /** @type {keyof Slice} */ key) =>
    median(slices.map((slice) => slice[key]));
  const latency = (/** @type {'p50' | 'p99'} */ key) =>
    `${of(off, key).toFixed(2)} -> ${of(on, key).toFixed(2)}`;
  return [
    subject,
    interval(ratio, 3),
    of(off, 'cpu').toFixed(0),
    latency('p50'),
    latency('p99'),
    of(off, 'perSecond').toFixed(0),
  ];
}
