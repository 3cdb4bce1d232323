// Guarantees: what `/register` adds to the CPU time of a request, as users run it: beside the same
// service with all of OpenTelemetry's instrumentations and without this package; see README.md.
//
//   npm run bench -- register --node .matrix/node-24/node_modules/.bin/node --rounds 20
//   npm run bench -- register --framework express --mode bursts --rest 20
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PACKAGE_NAME } from '../tools/paths.cjs';
import { estimate, interval, median } from '../tools/statistics.cjs';
import { installServices } from './register/install.mjs';
import { startClient, startService } from './register/services.mjs';

/** Requests before it counts: compiled, and the heap as large as it gets. */
const WARM_UP_REQUESTS = 8000;
/** Of a steady stream, before a slice of it counts. */
const SETTLE_MILLIS = 300;

const AUTO = ['--require', '@opentelemetry/auto-instrumentations-node/register'];
const REGISTER = ['--import', `${PACKAGE_NAME}/register`];
const BASELINE = 'control';

/** @type {Record<string, { nodeArgs: string[], env?: Record<string, string> }>} */
const SUBJECTS = {
  [BASELINE]: { nodeArgs: AUTO },
  '/register': { nodeArgs: REGISTER },
  'control, again': { nodeArgs: AUTO },
  'control, empty hooks': {
    nodeArgs: [...AUTO, '--require', join(import.meta.dirname, 'register/empty-hooks.cjs')],
  },
  '/register, disabled': {
    nodeArgs: REGISTER,
    env: { OTEL_INSTRUMENTATION_EVENT_LOOP_ENABLED: 'false' },
  },
};

/**
 * @typedef {import('./register/services.mjs').Sample} Sample
 * @typedef {import('./register/services.mjs').Service} Service
 * @typedef {import('./register/services.mjs').Client} Client
 * @typedef {{ launches: number, rounds: number, sliceMillis: number, burst: number,
 *   restMillis: number }} Sizes
 */

/** How the load comes. */
const MODES = {
  /** A slice of a steady stream. */
  async stream(
    /** @type {Service} */ service,
    /** @type {Client} */ client,
    /** @type {Sizes} */ sizes,
  ) {
    await client.load({ port: service.port, millis: SETTLE_MILLIS });
    return service.measure(() => client.load({ port: service.port, millis: sizes.sliceMillis }));
  },
  /** So many requests at once, after the process has had nothing to do for a while. */
  async bursts(
    /** @type {Service} */ service,
    /** @type {Client} */ client,
    /** @type {Sizes} */ sizes,
  ) {
    await sleep(Math.max(0, service.idleSince + sizes.restMillis - performance.now()));
    return service.measure(() => client.load({ port: service.port, requests: sizes.burst }));
  },
};

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'register',
  about: 'CPU of a request under /register, beside auto-instrumentations-node alone',
  minutes: 20,
  options: {
    framework: { type: 'string', multiple: true, default: ['express', 'fastify'] },
    mode: { type: 'string', multiple: true, default: Object.keys(MODES) },
    launches: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '10' },
    slice: { type: 'string', default: '2000' },
    burst: { type: 'string', default: '4000' },
    rest: { type: 'string', default: '5' },
    connections: { type: 'string', default: '16' },
  },
  async run({ nodes, options, report }) {
    if (!existsSync('/proc/self/schedstat')) {
      report.note('left out: the CPU time of threads is read from /proc, which only Linux has');
      return;
    }
    const sizes = {
      launches: Number(options.launches),
      rounds: Number(options.rounds),
      sliceMillis: Number(options.slice),
      burst: Number(options.burst),
      restMillis: Number(options.rest) * 1000,
    };
    report.versions(installServices());
    for (const { path, version } of nodes) {
      for (const framework of options.framework) {
        for (const mode of /** @type {(keyof typeof MODES)[]} */ (options.mode)) {
          /** @type {Map<string, Sample[]>} */
          const samples = new Map(Object.keys(SUBJECTS).map((name) => [name, []]));
          for (let launch = 0; launch < sizes.launches; launch++) {
            await measure({ path, framework, mode, launch }, options.connections, sizes, samples);
          }
          const what =
            mode === 'stream'
              ? 'a steady stream'
              : `bursts of ${sizes.burst} requests, ${options.rest} s between them`;
          report.table(
            `Node.js ${version}, ${framework}, ${what}: CPU per request, beside the control of the ` +
              'same round; median [95 % interval]',
            ['', 'CPU per request', 'µs', 'added, µs', 'p50, ms', 'p99, ms', 'CPU between, ms'],
            Array.from(samples, ([name, own]) => row(name, own, samples.get(BASELINE) ?? [])),
            Object.fromEntries(samples),
          );
        }
      }
    }
  },
};

/**
 * A process for each subject, all of them there at the same time, and one under load at a time, in
 * another order in each round. New ones for each launch, since no two processes are equally fast.
 * @param {{ path: string, framework: string, mode: keyof typeof MODES, launch: number }} what
 * @param {string} connections
 * @param {Sizes} sizes
 * @param {Map<string, Sample[]>} samples
 */
async function measure({ path, framework, mode, launch }, connections, sizes, samples) {
  const client = await startClient(connections);
  const services = [];
  try {
    for (const name of samples.keys())
      services.push({
        name,
        service: await startService(path, framework, { name, ...SUBJECTS[name] }, client.sink),
      });
    for (const { service } of services)
      await service.measure(() => client.load({ port: service.port, requests: WARM_UP_REQUESTS }));
    for (let round = 0; round < sizes.rounds; round++) {
      for (const { name, service } of inOrderOf(services, launch + round))
        samples.get(name)?.push(await MODES[mode](service, client, sizes));
    }
  } finally {
    for (const { service } of services) await service.stop();
    await client.stop();
  }
}

/** Each comes first as often as the others, and there and back: no drift favours one. */
function inOrderOf(/** @type {any[]} */ services, /** @type {number} */ round) {
  const first = round % services.length;
  const order = [...services.slice(first), ...services.slice(0, first)];
  return round % 2 === 0 ? order : order.toReversed();
}

function row(
  /** @type {string} */ name,
  /** @type {Sample[]} */ own,
  /** @type {Sample[]} */ base,
) {
  const of = (/** @type {keyof Sample} */ key, /** @type {number} */ digits) =>
    median(own.map((each) => each[key])).toFixed(digits);
  const ratio = estimate(own.map(({ cpu }, i) => cpu / base[i].cpu));
  const added = estimate(own.map(({ cpu }, i) => cpu - base[i].cpu));
  return [
    name,
    name === BASELINE ? '1' : interval(ratio, 3),
    of('cpu', 0),
    name === BASELINE ? '0' : interval(added, 1),
    of('p50', 2),
    of('p99', 2),
    of('rest', 0),
  ];
}
