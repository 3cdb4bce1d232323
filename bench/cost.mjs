// Guarantees: what `/register` adds to a request of Express, in µs of CPU. What is in the way of a
// request is switched on and off in turn inside one process, which tells far less apart than new
// processes do; what runs beside requests is timed. See README.md.
//
//   npm run bench -- cost --node .matrix/node-24/node_modules/.bin/node --launches 12
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_NAME } from '../tools/paths.cjs';
import { estimate, interval, median } from '../tools/statistics.cjs';
import { FOLDER, installServices } from './cost/install.mjs';
import { startClient, startService } from './cost/services.mjs';

const SUBJECT = {
  name: 'cost',
  nodeArgs: [
    ...['--import', join(FOLDER, 'before.mjs')],
    ...['--import', `${PACKAGE_NAME}/register`],
    ...['--import', join(FOLDER, 'switch.mjs')],
  ],
};

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'cost',
  about: 'µs that /register adds to a request, on and off in turn inside one process',
  minutes: 15,
  options: {
    framework: { type: 'string', multiple: true, default: ['express'] },
    launches: { type: 'string', default: '8' },
    // In the first minute of load, the loop profile takes eight times as many samples.
    'warm-up': { type: 'string', default: '65' },
    seconds: { type: 'string', default: '40' },
    slice: { type: 'string', default: '60' },
    connections: { type: 'string', default: '16' },
  },
  async run({ nodes, options, report }) {
    if (!existsSync('/proc/self/schedstat')) {
      report.note('left out: the CPU time of threads is read from /proc, which only Linux has');
      return;
    }
    report.versions(installServices());
    for (const { path, version } of nodes) {
      for (const framework of options.framework) {
        const launches = await measureLaunches(path, framework, options);
        const off = median(launches.map((launch) => launch.off));
        const perSecond = median(launches.map((launch) => launch.requestsPerSecond));
        report.table(
          `Node.js ${version}, ${framework}: added to the ${off.toFixed(0)} µs of CPU of a ` +
            `request, µs; median of ${launches.length} processes [95 % interval], least, most`,
          ['', 'added', 'least, most'],
          Object.entries(ROWS).map(([name, part]) => row(name, launches.map(part))),
          { launches },
        );
        report.note(`${perSecond.toFixed(0)} requests a second`);
      }
    }
  },
};

/**
 * @typedef {object} Launch µs for each request
 * @property {number} off without what is switched
 * @property {number} switched what that adds
 * @property {number} same the same state twice
 * @property {number} timers
 * @property {number} samples
 * @property {number} thread
 * @property {number} requestsPerSecond
 */

/** @type {Record<string, (launch: Launch) => number>} */
const ROWS = {
  'scopes, spans, wrappers: on beside off': ({ switched }) => switched,
  'null: the same state twice': ({ same }) => same,
  'ticks and beats': ({ timers }) => timers,
  'stack samples of the loop profile': ({ samples }) => samples,
  'watchdog thread': ({ thread }) => thread,
  'all together': ({ switched, timers, samples, thread }) => switched + timers + samples + thread,
};

/** @returns {Promise<Launch[]>} */
async function measureLaunches(
  /** @type {string} */ path,
  /** @type {string} */ framework,
  /** @type {Record<string, string>} */ options,
) {
  const client = await startClient(options.connections);
  const launches = [];
  try {
    for (let i = 0; i < Number(options.launches); i++) {
      const service = await startService(path, framework, SUBJECT, client.sink);
      try {
        launches.push(await measure(client, service, options));
      } finally {
        await service.stop();
      }
    }
  } finally {
    await client.stop();
  }
  return launches;
}

/** @returns {Promise<Launch>} */
async function measure(
  /** @type {import('./cost/services.mjs').Client} */ client,
  /** @type {import('./cost/services.mjs').Service} */ service,
  /** @type {Record<string, string>} */ options,
) {
  const { port } = service;
  await client.load({ port, millis: 1000 * Number(options['warm-up']) });
  await service.ask({ switchEvery: Number(options.slice) });
  await client.load({ port, millis: 1000 * Number(options.seconds) });
  const { slices, first, last } = await service.ask({});
  const rounds = roundsOf(slices);
  const requests = last.requests - first.requests;
  const each = (/** @type {string} */ what) => (last[what] - first[what]) / requests;
  return {
    off: median(slices.filter(({ state }) => state === 'off').map(({ cpu }) => cpu)),
    switched: contrast(rounds, ([[, , off], [on, , off2], [on2]]) => on + on2 - off - off2),
    same: contrast(rounds, ([[, , a], [, , b], [, , c], [, , d]]) => a - b + c - d),
    timers: each('timers'),
    samples: each('samples'),
    thread: each('watchdogThread'),
    requestsPerSecond: requests / (last.seconds - first.seconds),
  };
}

/** @typedef {[number, number, number, number]} Round on, off, off, on: µs for a request */

/** @returns {Round[]} */
function roundsOf(/** @type {{ cpu: number }[]} */ slices) {
  const rounds = [];
  for (let i = 0; i + 4 <= slices.length; i += 4)
    rounds.push(slices.slice(i, i + 4).map(({ cpu }) => cpu));
  return /** @type {Round[]} */ (rounds);
}

/**
 * Half of the median of what `of` says of four rounds in a row: as many slices are added as are
 * subtracted, since a median of two slices together is more than that of one (collections). The
 * slice after a switch is left out: V8 compiles again in it, for `off` more than for `on`.
 */
function contrast(
  /** @type {Round[]} */ rounds,
  /** @type {(rounds: [Round, Round, Round, Round]) => number} */ of,
) {
  return median(rounds.slice(3).map((last, i) => of([...three(rounds, i), last]))) / 2;
}

/** @returns {[Round, Round, Round]} */
const three = (/** @type {Round[]} */ rounds, /** @type {number} */ from) =>
  /** @type {[Round, Round, Round]} */ (rounds.slice(from, from + 3));

function row(/** @type {string} */ name, /** @type {number[]} */ added) {
  if (added.some(Number.isNaN)) return [name, 'not known', ''];
  const range = `${Math.min(...added).toFixed(1)}, ${Math.max(...added).toFixed(1)}`;
  return [name, interval(estimate(added), 1), range];
}
