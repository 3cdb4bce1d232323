// Guarantees: what `/register` adds to a request of Express, in µs of CPU of all threads: switched
// on and off in turn inside one process, which tells far less apart than new processes do; see
// README.md.
//
//   npm run bench -- switched --node .matrix/node-24/node_modules/.bin/node --rounds 50
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PACKAGE_NAME } from '../tools/paths.cjs';
import { estimate, interval, median } from '../tools/statistics.cjs';
import { FOLDER, installServices } from './register/install.mjs';
import { startClient, startService } from './register/services.mjs';

/** Requests before it counts: compiled, and the heap as large as it gets. */
const WARM_UP_REQUESTS = 8000;

const SUBJECT = {
  name: 'switched',
  nodeArgs: [
    ...['--import', `${PACKAGE_NAME}/register`],
    ...['--import', join(FOLDER, 'switch.mjs')],
  ],
};

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'switched',
  about: 'µs that /register adds to a request, on and off in turn inside one process',
  minutes: 3,
  options: {
    framework: { type: 'string', multiple: true, default: ['express'] },
    rounds: { type: 'string', default: '25' },
    slice: { type: 'string', default: '1000' },
    settle: { type: 'string', default: '300' },
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
        const rounds = await measure(path, framework, options);
        const slices = rounds.flatMap(({ on, off }) => [...on, ...off]);
        const client = median(slices.map(({ clientCpu }) => clientCpu));
        /** @type {Read} */
        const counted = ({ cpu }) => cpu;
        /** @type {Read} */
        const corrected = ({ cpu, clientCpu }) => (cpu / clientCpu) * client;
        report.table(
          `Node.js ${version}, ${framework}: added to the CPU of a request, µs; ` +
            'median [95 % interval]',
          ['', 'on beside off', 'null: the same state twice', 'a request, off'],
          [row('corrected by the client', rounds, corrected), row('as counted', rounds, counted)],
          { rounds },
        );
      }
    }
  },
};

/**
 * @typedef {import('./register/services.mjs').Sample} Sample
 * @typedef {(sample: Sample) => number} Read µs for each request
 * @typedef {{ on: [Sample, Sample], off: [Sample, Sample] }} Round
 */

/** @returns {Promise<Round[]>} */
async function measure(
  /** @type {string} */ path,
  /** @type {string} */ framework,
  /** @type {Record<string, string>} */ options,
) {
  const client = await startClient(options.connections);
  const service = await startService(path, framework, SUBJECT, client.sink);
  const { port } = service;
  /** @type {Round[]} */
  const rounds = [];
  try {
    for (const state of ['off', 'on']) {
      await service.ask({ switchTo: state });
      await service.measure(() => client.load({ port, requests: WARM_UP_REQUESTS }));
    }
    for (let i = 0; i < Number(options.rounds); i++) {
      /** @type {{ on: Sample[], off: Sample[] }} */
      const round = { on: [], off: [] };
      // Each state first in turn, and there and back: no drift favours one.
      const [a, b] = i % 2 === 0 ? ['off', 'on'] : ['on', 'off'];
      for (const state of /** @type {('on' | 'off')[]} */ ([a, b, b, a])) {
        await service.ask({ switchTo: state });
        // The start or end of the watchdog's thread is the price of switching, not of running.
        await sleep(Number(options.settle));
        const load = () => client.load({ port, millis: Number(options.slice) });
        round[state].push(await service.measure(load));
      }
      rounds.push(/** @type {Round} */ (round));
    }
  } finally {
    await service.stop();
    await client.stop();
  }
  return rounds;
}

function row(/** @type {string} */ name, /** @type {Round[]} */ rounds, /** @type {Read} */ read) {
  const each = rounds.map(({ on, off }) => ({ on: on.map(read), off: off.map(read) }));
  const added = estimate(each.map(({ on, off }) => (on[0] + on[1] - off[0] - off[1]) / 2));
  const none = estimate(each.map(({ on, off }) => (on[1] - on[0] + off[1] - off[0]) / 2));
  const off = median(each.flatMap(({ off }) => off));
  return [name, interval(added, 1), interval(none, 1), off.toFixed(1)];
}
