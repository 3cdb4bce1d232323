// Guarantees: what `/register` adds to a request of Express, in µs of CPU of all threads: switched
// on and off in turn inside one process, which tells far less apart than new processes do; see
// README.md.
//
//   npm run bench -- switched --node .matrix/node-24/node_modules/.bin/node --launches 12
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
  minutes: 7,
  options: {
    framework: { type: 'string', multiple: true, default: ['express'] },
    launches: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '8' },
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
        const launches = await measureLaunches(path, framework, options);
        report.table(
          `Node.js ${version}, ${framework}: added to the CPU of a request, µs; median of ` +
            `${launches.length} processes [95 % interval], the least and the most`,
          ['', 'added', 'least, most', 'a request, off'],
          [
            row('on beside off', launches, ({ on, off }) => on[0] + on[1] - off[0] - off[1]),
            row(
              'null: the same state twice',
              launches,
              ({ on, off }) => on[1] - on[0] + off[1] - off[0],
            ),
          ],
          { launches },
        );
      }
    }
  },
};

/** @typedef {{ on: [number, number], off: [number, number] }} Round µs for each request */

/** @returns {Promise<Round[][]>} the rounds of each process */
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

/** @returns {Promise<Round[]>} */
async function measure(
  /** @type {import('./register/services.mjs').Client} */ client,
  /** @type {import('./register/services.mjs').Service} */ service,
  /** @type {Record<string, string>} */ options,
) {
  const { port } = service;
  /** @type {Round[]} */
  const rounds = [];
  for (const state of ['off', 'on']) {
    await service.ask({ switchTo: state });
    await service.measure(() => client.load({ port, requests: WARM_UP_REQUESTS }));
  }
  for (let i = 0; i < Number(options.rounds); i++) {
    /** @type {{ on: number[], off: number[] }} */
    const round = { on: [], off: [] };
    // Each state first in turn, and there and back: no drift favours one.
    const [a, b] = i % 2 === 0 ? ['off', 'on'] : ['on', 'off'];
    for (const state of /** @type {('on' | 'off')[]} */ ([a, b, b, a])) {
      await service.ask({ switchTo: state });
      // The start or end of the watchdog's thread is the price of switching, not of running.
      await sleep(Number(options.settle));
      const load = () => client.load({ port, millis: Number(options.slice) });
      round[state].push((await service.measure(load)).cpu);
    }
    rounds.push(/** @type {Round} */ (round));
  }
  return rounds;
}

function row(
  /** @type {string} */ name,
  /** @type {Round[][]} */ launches,
  /** @type {(round: Round) => number} */ contrast,
) {
  const added = launches.map((rounds) => median(rounds.map((round) => contrast(round) / 2)));
  const off = median(launches.flat().flatMap((round) => round.off));
  const range = `${Math.min(...added).toFixed(1)}, ${Math.max(...added).toFixed(1)}`;
  return [name, interval(estimate(added), 1), range, off.toFixed(1)];
}
