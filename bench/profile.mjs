// Promises: where the CPU time of the service of http.mjs goes, by V8's sampling profiler: what of it is this package's code,
// and what is Node.js' own for calling hooks. A share within one process, so it holds on a machine that is not quiet.
//
//   npm run bench -- profile --node .matrix/node-24/node_modules/.bin/node
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLoad } from './load.mjs';
import { startService } from './service-client.mjs';

const CONNECTIONS = 16;
/** The built package, as a profile names its file. */
const OWN = new URL('../dist/', import.meta.url).href;
const SAMPLE_MICROS = 200;
const WARM_UP_MILLIS = 2000;

/** @type {import('./registry.mjs').Bench} */
export default {
  name: 'profile',
  about: 'whose code the CPU time of a service is spent in',
  minutes: 2,
  options: {
    only: { type: 'string', multiple: true, default: ['nothing', 'empty hook', 'defaults'] },
    seconds: { type: 'string', default: '20' },
  },
  async run({ nodes, options, report }) {
    for (const { path, version } of nodes) {
      const rows = [];
      for (const subject of options.only) {
        const { own, hooks } = await profile(path, subject, Number(options.seconds));
        rows.push([subject, percent(own), percent(hooks)]);
      }
      report.table(
        `Node.js ${version}: share of the CPU time of JavaScript`,
        ['', 'this package', "Node.js' async_hooks"],
        rows,
      );
    }
  },
};

/** @returns {Promise<{ own: number, hooks: number }>} */
async function profile(
  /** @type {string} */ path,
  /** @type {string} */ subject,
  /** @type {number} */ seconds,
) {
  const folder = mkdtempSync(join(tmpdir(), 'event-loop-profile-'));
  const service = await startService(path, subject, [
    '--cpu-prof',
    `--cpu-prof-dir=${folder}`,
    `--cpu-prof-interval=${SAMPLE_MICROS}`,
  ]);
  const load = startLoad(service.port, { connections: CONNECTIONS, path: '/items/1' });
  await sleep(WARM_UP_MILLIS + seconds * 1000);
  await load.stop();
  await service.stop();
  try {
    // The main thread's only: workers are not profiled.
    const [file] = readdirSync(folder);
    return sharesOf(JSON.parse(readFileSync(join(folder, file), 'utf8')));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * @typedef {{ id: number, callFrame: { functionName: string, url: string } }} ProfileNode
 * @param {{ nodes: ProfileNode[], samples: number[], timeDeltas: number[] }} profile as V8 writes it
 */
function sharesOf({ nodes, samples, timeDeltas }) {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  let [all, own, hooks] = [0, 0, 0];
  for (const [i, id] of samples.entries()) {
    const { functionName, url } = /** @type {ProfileNode['callFrame']} */ (frames.get(id));
    if (functionName === '(idle)') continue;
    all += timeDeltas[i];
    if (url === 'node:internal/async_hooks') hooks += timeDeltas[i];
    else if (url.startsWith(OWN)) own += timeDeltas[i];
  }
  return { own: own / all, hooks: hooks / all };
}

function percent(/** @type {number} */ share) {
  return `${(share * 100).toFixed(2)} %`;
}
