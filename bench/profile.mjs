// Guarantees: where the CPU time of the service of http.mjs goes, by V8's sampling profiler: what
// of it is this package's code, and what is Node.js' own for calling hooks. A share within one
// process, so it is valid on a busy machine, too.
//
//   npm run bench -- profile --node .matrix/node-24/node_modules/.bin/node
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLoad } from './support/load.mjs';
import { startService } from './support/service-client.mjs';

const CONNECTIONS = 16;
/** The built package, as a profile names its file. */
const OWN = new URL('../dist/', import.meta.url).href;
const SAMPLE_MICROS = 200;
const WARM_UP_MILLIS = 2000;

/** @type {import('./support/registry.mjs').Bench} */
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
        const { own, clocks, hooks } = await profile(path, subject, Number(options.seconds));
        rows.push([subject, percent(own), percent(clocks), percent(hooks)]);
      }
      report.table(
        `Node.js ${version}: share of the CPU time of JavaScript`,
        ['', 'this package', 'clocks and the like that it reads', "Node.js' async_hooks"],
        rows,
      );
    }
  },
};

/** @returns {Promise<Record<Share, number>>} */
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
 * @typedef {{ id: number, callFrame: { functionName: string, url: string },
 *   children?: number[] }} ProfileNode
 * @typedef {'own' | 'clocks' | 'hooks'} Share
 */

/**
 * What this package's code calls of Node.js' own (clocks, what is running) is its doing as well;
 * what the functions it wraps call is not.
 * @param {{ nodes: ProfileNode[], samples: number[], timeDeltas: number[] }} profile as V8 writes
 *   it
 * @returns {Record<Share, number>}
 */
function sharesOf({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  /** @type {Map<number, Share>} */
  const shares = new Map();
  const visit = (
    /** @type {ProfileNode} */ { id, callFrame, children },
    /** @type {boolean} */ isCalledByUs,
  ) => {
    const isOwn = callFrame.url.startsWith(OWN);
    const isOfNode = callFrame.url === '' || callFrame.url.startsWith('node:');
    const isOurDoing =
      isOwn || (isCalledByUs && isOfNode && !callFrame.functionName.startsWith('('));
    if (isOwn) shares.set(id, 'own');
    else if (isOurDoing) shares.set(id, 'clocks');
    else if (callFrame.url === 'node:internal/async_hooks') shares.set(id, 'hooks');
    for (const child of children ?? [])
      visit(/** @type {ProfileNode} */ (byId.get(child)), isOurDoing);
  };
  visit(nodes[0], false);
  const total = { all: 0, own: 0, clocks: 0, hooks: 0 };
  for (const [i, id] of samples.entries()) {
    if (byId.get(id)?.callFrame.functionName === '(idle)') continue;
    total.all += timeDeltas[i];
    const share = shares.get(id);
    if (share !== undefined) total[share] += timeDeltas[i];
  }
  const { all, own, clocks, hooks } = total;
  return { own: own / all, clocks: clocks / all, hooks: hooks / all };
}

function percent(/** @type {number} */ share) {
  return `${(share * 100).toFixed(2)} %`;
}
