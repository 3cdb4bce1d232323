// Guarantees: what `/register` adds to a request of Express, in µs of CPU. What is in the way of a
// request is switched on and off in turn inside one process, which tells far less apart than new
// processes do; what runs beside requests is timed. See README.md.
//
//   npm run bench -- cost --node .matrix/node-24/node_modules/.bin/node --launches 12
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { messageOf, plainEnvironment } from '../tools/harness.cjs';
import { addTarball, installOnce, versionIn } from '../tools/install.cjs';
import { pack } from '../tools/pack.cjs';
import { PACKAGE_NAME } from '../tools/paths.cjs';
import { estimate, interval, median } from '../tools/statistics.cjs';
import { closedLoop, startSink } from './support/load.mjs';

const FOLDER = join(import.meta.dirname, 'cost/package');
const PRELOADS = [
  join(FOLDER, 'before.mjs'),
  `${PACKAGE_NAME}/register`,
  join(FOLDER, 'switch.mjs'),
];

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'cost',
  about: 'µs that /register adds to a request, on and off in turn inside one process',
  minutes: 15,
  options: {
    launches: { type: 'string', default: '8' },
    // Until then V8 compiles what requests call, and its memory reducer runs.
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
      const launches = await measureLaunches(path, options);
      const off = median(launches.map((launch) => launch.off));
      const perSecond = median(launches.map((launch) => launch.requestsPerSecond));
      report.table(
        `Node.js ${version}, express: added to the ${off.toFixed(0)} µs of CPU of a ` +
          `request, µs; median of ${launches.length} processes [95 % interval], least, most`,
        ['', 'added', 'least, most'],
        Object.entries(ROWS).map(([name, part]) => row(name, launches.map(part))),
        { launches },
      );
      report.note(`${perSecond.toFixed(0)} requests a second`);
    }
  },
};

/**
 * @typedef {object} Launch µs for each request
 * @property {number} off without what is switched
 * @property {number} switched what that adds
 * @property {number} same the same state twice
 * @property {number} timers
 * @property {number} thread
 * @property {number} requestsPerSecond
 */

/** @type {Record<string, (launch: Launch) => number>} */
const ROWS = {
  'scopes, spans, wrappers: on beside off': ({ switched }) => switched,
  'null: the same state twice': ({ same }) => same,
  'ticks and beats': ({ timers }) => timers,
  'watchdog thread': ({ thread }) => thread,
  'all together': ({ switched, timers, thread }) => switched + timers + thread,
};

/** @returns {Record<string, string>} the version of each package, this one as it is published */
function installServices() {
  installOnce(FOLDER);
  addTarball(pack().path, FOLDER);
  const { dependencies } = JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8'));
  const names = [...Object.keys(dependencies), PACKAGE_NAME];
  return Object.fromEntries(names.map((name) => [name, versionIn(FOLDER, name)]));
}

/** @returns {Promise<Launch[]>} */
async function measureLaunches(
  /** @type {string} */ path,
  /** @type {Record<string, string>} */ options,
) {
  const sink = await startSink();
  const launches = [];
  try {
    for (let i = 0; i < Number(options.launches); i++) {
      const service = await startService(path, sink.url);
      try {
        launches.push(await measure(service, options));
      } finally {
        await service.stop();
      }
    }
  } finally {
    sink.close();
  }
  return launches;
}

/** A process with what is preloaded and nothing else. */
async function startService(/** @type {string} */ path, /** @type {string} */ collector) {
  const child = fork(join(FOLDER, 'express.cjs'), {
    cwd: FOLDER,
    execPath: path,
    execArgv: PRELOADS.flatMap((name) => ['--import', name]),
    env: {
      ...plainEnvironment(),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector,
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_LOGS_EXPORTER: 'none',
      OTEL_NODE_RESOURCE_DETECTORS: 'none',
      OTEL_SERVICE_NAME: 'cost',
    },
  });
  const port = Number(await messageOf(child));
  return {
    url: `http://127.0.0.1:${port}/items/7`,
    ask(/** @type {unknown} */ message) {
      child.send(message);
      return messageOf(child);
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

/** @returns {Promise<Launch>} */
async function measure(
  /** @type {Awaited<ReturnType<typeof startService>>} */ service,
  /** @type {Record<string, string>} */ options,
) {
  const connections = Number(options.connections);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const load = (/** @type {string} */ seconds) =>
    closedLoop(service.url, { connections, millis: 1000 * Number(seconds), agent });
  await load(options['warm-up']);
  await service.ask({ switchEvery: Number(options.slice) });
  await load(options.seconds);
  const { slices, first, last } = await service.ask({});
  agent.destroy();
  const rounds = roundsOf(slices);
  const requests = last.requests - first.requests;
  const each = (/** @type {string} */ what) => (last[what] - first[what]) / requests;
  return {
    off: median(slices.filter(({ state }) => state === 'off').map(({ cpu }) => cpu)),
    switched: contrast(rounds, ([[, , off], [on, , off2], [on2]]) => on + on2 - off - off2),
    same: contrast(rounds, ([[, , a], [, , b], [, , c], [, , d]]) => a - b + c - d),
    timers: each('timers'),
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
