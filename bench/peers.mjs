// Guarantees: what this package and its peers add to the CPU time of a request, in the same service
// and the same run; see README.md.
import { setTimeout as sleep } from 'node:timers/promises';
import { estimate, interval, median } from '../tools/statistics.cjs';
import { installPeers } from './peers/install.mjs';
import { baselineOf, isBaseline, PEER_SUBJECTS } from './peers/service-subjects.mjs';
import { startSink } from './peers/sink.mjs';
import { startLoad } from './support/load.mjs';
import { startPeer } from './support/service-client.mjs';
import { slice } from './support/slice.mjs';

const CONNECTIONS = 16;
/** After the load has begun, before it counts: compiled, and the tool at work. */
const WARM_UP_MILLIS = 1500;
/** After the load has moved on to the next process. */
const SETTLE_MILLIS = 150;

/** @typedef {import('./support/slice.mjs').Slice} Slice */

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'peers',
  about: 'CPU and latency of a request under each tool, beside the same service without',
  minutes: 10,
  options: {
    only: { type: 'string', multiple: true },
    launches: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '8' },
    slice: { type: 'string', default: '800' },
  },
  async run({ nodes, options, report }) {
    report.versions(installPeers());
    const names = Object.keys(PEER_SUBJECTS).filter(
      (name) => !options.only || options.only.includes(name) || isBaseline(name),
    );
    for (const { path, version } of nodes) {
      /** @type {Map<string, Slice[]>} */
      const slices = new Map(names.map((name) => [name, []]));
      for (let launch = 0; launch < Number(options.launches); launch++) {
        for (const { name, error } of await measure(
          path,
          names,
          Number(options.rounds),
          Number(options.slice),
          slices,
        )) {
          // One that does not install or start on this machine must not hide the others.
          report.note(`${name} could not be measured: ${error.message}`);
          slices.delete(name);
          process.exitCode = 1;
        }
      }
      report.table(
        `Node.js ${version}: CPU per request, beside the same service without; median [95 % interval]`,
        ['', 'CPU per request', 'µs', 'added, µs', 'p50, ms', 'p99, ms'],
        Array.from(slices.keys(), (name) => row(name, slices)),
        Object.fromEntries(slices),
      );
    }
  },
};

/**
 * A process for each, all of them there at the same time, and one under load at a time: processes
 * started one after another would live through other minutes. Each launch has new ones, since no
 * two processes are equally fast.
 */
async function measure(
  /** @type {string} */ path,
  /** @type {string[]} */ names,
  /** @type {number} */ rounds,
  /** @type {number} */ sliceMillis,
  /** @type {Map<string, Slice[]>} */ slices,
) {
  const services = [];
  const sink = await startSink();
  /** @type {{ name: string, error: Error }[]} */
  const failed = [];
  try {
    for (const name of names.filter((each) => slices.has(each))) {
      try {
        services.push({ name, service: await startPeer(path, name, sink.env) });
      } catch (error) {
        failed.push({ name, error: /** @type {Error} */ (error) });
      }
    }
    for (const { service } of services) await under(service, WARM_UP_MILLIS, 0);
    for (let round = 0; round < rounds; round++) {
      // There and back, so that no drift favours the first.
      const order = round % 2 === 0 ? services : services.toReversed();
      for (const { name, service } of order) {
        slices.get(name)?.push(await under(service, SETTLE_MILLIS, sliceMillis));
      }
    }
  } finally {
    for (const { service } of services) await service.stop();
    sink.close();
  }
  return failed;
}

async function under(
  /** @type {Awaited<ReturnType<typeof startPeer>>} */ service,
  /** @type {number} */ settleMillis,
  /** @type {number} */ sliceMillis,
) {
  const load = startLoad(service.port, { connections: CONNECTIONS, path: '/items/7' });
  try {
    await sleep(settleMillis);
    return await slice(service, load, sliceMillis);
  } finally {
    await load.stop();
  }
}

function row(/** @type {string} */ name, /** @type {Map<string, Slice[]>} */ slices) {
  const own = slices.get(name) ?? [];
  const base = slices.get(baselineOf(name)) ?? [];
  const ratio = estimate(own.map(({ cpu }, i) => cpu / base[i].cpu));
  const added = estimate(own.map(({ cpu }, i) => cpu - base[i].cpu));
  const of = (/** @type {keyof Slice} */ key) => median(own.map((each) => each[key]));
  return [
    name,
    own === base ? '1' : interval(ratio, 3),
    of('cpu').toFixed(0),
    own === base ? '0' : interval(added, 1),
    of('p50').toFixed(2),
    of('p99').toFixed(2),
  ];
}
