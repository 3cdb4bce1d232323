// Guarantees: what the instrumentation adds to the CPU time of a request to an Express service that
// is traced, watchdog thread included; see README.md.
//
//   npm run bench -- http --node .matrix/node-24/node_modules/.bin/node --only defaults --rounds 40
import { setTimeout as sleep } from 'node:timers/promises';
import { estimate, interval, median } from '../tools/statistics.cjs';
import { startLoad } from './support/load.mjs';
import { startService } from './support/service-client.mjs';
import { SERVICE_SUBJECTS } from './support/service-subjects.mjs';
import { slice } from './support/slice.mjs';

/** @typedef {import('./support/slice.mjs').Slice} Slice */

/** On and off this often before it counts. */
const WARM_UP_ROUNDS = 4;

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'http',
  about: 'CPU per request of a service, on and off in turn inside one process',
  minutes: 8,
  options: {
    only: { type: 'string', multiple: true, default: Object.keys(SERVICE_SUBJECTS) },
    rounds: { type: 'string', default: '20' },
    slice: { type: 'string', default: '1200' },
    settle: { type: 'string', default: '400' },
    connections: { type: 'string', default: '16' },
  },
  async run({ nodes, options, report }) {
    const sizes = {
      rounds: Number(options.rounds),
      sliceMillis: Number(options.slice),
      settleMillis: Number(options.settle),
      connections: Number(options.connections),
    };
    for (const { path, version } of nodes) {
      /** @type {Map<string, Record<'on' | 'off', Slice[]>>} */
      const slices = new Map();
      for (const subject of options.only) slices.set(subject, await measure(path, subject, sizes));
      report.table(
        `Node.js ${version}: on/off, median [95 % interval]; latency in ms, off -> on`,
        ['', 'CPU per request', 'off, µs', 'p50', 'p99', 'requests/s, off'],
        Array.from(slices, ([subject, each]) => row(subject, each)),
        Object.fromEntries(slices),
      );
    }
  },
};

/** @returns {Promise<Record<'on' | 'off', Slice[]>>} */
async function measure(
  /** @type {string} */ path,
  /** @type {string} */ subject,
  /** @type {Record<'rounds' | 'sliceMillis' | 'settleMillis' | 'connections', number>} */ sizes,
) {
  const { rounds, sliceMillis, settleMillis, connections } = sizes;
  const service = await startService(path, subject);
  const load = startLoad(service.port, { connections, path: '/items/7' });
  /** @type {Record<'on' | 'off', Slice[]>} */
  const slices = { on: [], off: [] };
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    // Which one comes first changes from round to round, so that no drift favours either.
    for (const state of round % 2 === 0 ? ['off', 'on'] : ['on', 'off']) {
      await service.ask(state);
      // The start or end of the watchdog's thread is the price of switching, not of running.
      await sleep(settleMillis);
      const reported = await slice(service, load, sliceMillis);
      if (round >= 0) slices[state].push(reported);
    }
  }
  await load.stop();
  await service.stop();
  return slices;
}

function row(
  /** @type {string} */ subject,
  /** @type {Record<'on' | 'off', Slice[]>} */ { on, off },
) {
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
