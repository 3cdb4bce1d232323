// Guarantees: what each tool adds to the event loop utilization of a service at a part of its
// capacity, and p99 and throughput at and above its capacity; see README.md.
//
//   npm run bench -- load --only 'this package' --launches 1 --rounds 2
import { setTimeout as sleep } from 'node:timers/promises';
import { estimate, interval, median, quantile } from '../tools/statistics.cjs';
import { installPeers } from './peers/install.mjs';
import { baselineOf, isBaseline, PEER_SUBJECTS } from './peers/service-subjects.mjs';
import { arrivals, closedLoop, openLoop, startSink } from './support/load.mjs';
import { startPeer } from './support/service-client.mjs';

/** A request that takes some 1 ms of CPU. */
const PATH = '/compute/30';
const CONNECTIONS = 64;
/** Of the capacity of the service without a tool. */
const SHARES = [0.3, 0.6, 0.9, 1, 1.5];
const WARM_UP_MILLIS = 1000;
const CAPACITY_MILLIS = 2000;
const SETTLE_MILLIS = 100;
/** Those that the package is most often compared with. */
const DEFAULT_SUBJECTS = [
  'nothing',
  'nothing, again',
  'this package',
  'this package, with its span processor',
  '@sentry/node without it',
  '@sentry/node-native',
  '@livekit/agents, event loop monitor',
  'dd-trace without it',
  'dd-trace with profiling',
  '@platformatic/flame',
];

/**
 * @typedef {Awaited<ReturnType<typeof startPeer>>} Service
 * @typedef {{ utilization: number, cpu: number, perSecond: number, latencies: number[] }} Reading
 *   percent, microseconds of CPU per request, answers, milliseconds
 */

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'load',
  about: 'event loop utilization, p99 and throughput under each tool, at 30 to 150 % load',
  minutes: 12,
  options: {
    only: { type: 'string', multiple: true, default: DEFAULT_SUBJECTS },
    launches: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    slice: { type: 'string', default: '1500' },
  },
  async run({ nodes, options, report }) {
    report.versions(installPeers());
    const names = Object.keys(PEER_SUBJECTS).filter(
      (name) => options.only.includes(name) || (options.only.some(needs(name)) && isBaseline(name)),
    );
    const sizes = { rounds: Number(options.rounds), sliceMillis: Number(options.slice) };
    for (const { path, version } of nodes) {
      /** @type {Map<string, Reading[][]>} for each of SHARES */
      const readings = new Map(names.map((name) => [name, SHARES.map(() => [])]));
      const capacities = [];
      for (let launch = 0; launch < Number(options.launches); launch++)
        capacities.push(await measure(path, sizes, readings));
      report.note(`capacity: ${capacities.map((each) => each.toFixed(0)).join(', ')} requests/s`);
      report.table(
        `Node.js ${version}: event loop utilization added, points; CPU per request at 60 %`,
        ['', 'at 30 %', 'at 60 %', 'at 90 %', 'CPU per request', 'added, µs'],
        names.map((name) => utilizationRow(name, readings)),
        { shares: SHARES, readings: Object.fromEntries(readings), capacities },
      );
      report.table(
        `Node.js ${version}: p99 in ms, and answers/s, ${Number(options.slice) / 1000} s of each load`,
        ['', 'p99 at 90 %', 'p99 at 100 %', 'answers/s', 'p99 at 150 %', 'answers/s'],
        names.map((name) => overloadRow(name, readings)),
      );
    }
  },
};

const needs = (/** @type {string} */ baseline) => (/** @type {string} */ name) =>
  baselineOf(name) === baseline;

/** @returns {Promise<number>} capacity, requests/s */
async function measure(
  /** @type {string} */ path,
  /** @type {{ rounds: number, sliceMillis: number }} */ { rounds, sliceMillis },
  /** @type {Map<string, Reading[][]>} */ readings,
) {
  const sink = await startSink();
  const env = { DD_TRACE_AGENT_URL: sink.url };
  /** @type {{ name: string, service: Service }[]} */
  const services = [];
  try {
    for (const name of readings.keys())
      services.push({ name, service: await startPeer(path, name, env) });
    for (const { service } of services) await underFullLoad(service, WARM_UP_MILLIS);
    const capacity = await underFullLoad(services[0].service, CAPACITY_MILLIS);
    for (let round = 0; round < rounds; round++) {
      // There and back, so that no drift favours the first.
      const order = round % 2 === 0 ? services : services.toReversed();
      for (const [i, share] of SHARES.entries()) {
        const due = arrivals(share * capacity, sliceMillis);
        for (const { name, service } of order) {
          await sleep(SETTLE_MILLIS);
          readings.get(name)?.[i].push(await read(service, due));
        }
      }
    }
    return capacity;
  } finally {
    for (const { service } of services) await service.stop();
    sink.close();
  }
}

async function underFullLoad(/** @type {Service} */ service, /** @type {number} */ millis) {
  const before = await service.read();
  await closedLoop(`http://127.0.0.1:${service.port}${PATH}`, { connections: 16, millis });
  const after = await service.read();
  return ((after.requests - before.requests) / (after.at - before.at)) * 1000;
}

/** @returns {Promise<Reading>} */
async function read(/** @type {Service} */ service, /** @type {number[]} */ due) {
  const before = await service.read();
  const { latencies, answered } = await openLoop(service.port, {
    path: PATH,
    due,
    connections: CONNECTIONS,
  });
  const after = await service.read();
  const active = after.active - before.active;
  return {
    utilization: (active / (active + after.idle - before.idle)) * 100,
    cpu: (after.cpu - before.cpu) / (after.requests - before.requests),
    perSecond: (answered / /** @type {number} */ (due.at(-1))) * 1000,
    latencies,
  };
}

/**
 * @returns {(i: number, of: (reading: Reading) => number, how: 'difference' | 'ratio') =>
 *   number[]}
 */
const compare =
  (/** @type {string} */ name, /** @type {Map<string, Reading[][]>} */ readings) =>
  (i, of, how) => {
    const [own, base] = [name, baselineOf(name)].map((each) => (readings.get(each) ?? [])[i]);
    return own.map((reading, j) =>
      how === 'ratio' ? of(reading) / of(base[j]) : of(reading) - of(base[j]),
    );
  };

function utilizationRow(
  /** @type {string} */ name,
  /** @type {Map<string, Reading[][]>} */ readings,
) {
  if (name === 'nothing') {
    const own = readings.get(name) ?? [];
    const of = (/** @type {number} */ i) =>
      `${median(own[i].map(({ utilization }) => utilization)).toFixed(1)} %`;
    const cpu = median(own[1].map((reading) => reading.cpu)).toFixed(0);
    return [name, of(0), of(1), of(2), `${cpu} µs`, ''];
  }
  const compared = compare(name, readings);
  const points = (/** @type {number} */ i) =>
    interval(estimate(compared(i, ({ utilization }) => utilization, 'difference')), 1);
  return [
    name,
    points(0),
    points(1),
    points(2),
    interval(estimate(compared(1, ({ cpu }) => cpu, 'ratio')), 3),
    interval(estimate(compared(1, ({ cpu }) => cpu, 'difference')), 0),
  ];
}

function overloadRow(/** @type {string} */ name, /** @type {Map<string, Reading[][]>} */ readings) {
  const own = readings.get(name) ?? [];
  const p99 = (/** @type {number} */ i) =>
    median(own[i].map(({ latencies }) => quantile(latencies, 0.99))).toFixed(0);
  const perSecond = (/** @type {number} */ i) =>
    median(own[i].map((reading) => reading.perSecond)).toFixed(0);
  return [name, p99(2), p99(3), perSecond(3), p99(4), perSecond(4)];
}
