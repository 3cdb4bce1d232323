// Guarantees: whole products from npm, run by what docs/products.md says and asked as a user would:
// their blocks arrive by OTLP, with names that V8's profile of the same process bears out, and with
// the request that was open; and what it costs, from the start to the first answer and by request.
// Linux only (/proc).
//
//   npm run bench -- recipes --product ghost --node /path/to/node24
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BLOCK_SPAN } from '../tools/otlp.cjs';
import { OtlpReceiver } from '../tools/otlp-receiver.cjs';
import { PACKAGE_NAME } from '../tools/paths.cjs';
import { median } from '../tools/statistics.cjs';
import { isSame } from './real-apps/support/judge.mjs';
import { collectProfiles } from './real-apps/support/launch.mjs';
import { sourcePlace } from './real-apps/support/places.mjs';
import { Profile, Stacks, shorten } from './real-apps/support/truth.mjs';
import { Client } from './recipes/client.mjs';
import { installProduct } from './recipes/install.mjs';
import { OWN_FOLDER } from './recipes/own-folder.mjs';
import { entryIn, installByRecipe, startOf } from './recipes/recipe.mjs';
import { closedLoop } from './support/load.mjs';
import { withProduct } from './support/product.mjs';

const NAMES = ['ghost', 'n8n', 'directus', 'strapi', 'payload', 'node-red', 'verdaccio'];
const PROFILER = join(import.meta.dirname, 'real-apps/support/profile.cjs');
/** What is preloaded. */
const MODES = {
  nothing: '',
  agent: `--import ${join(import.meta.dirname, 'recipes/agent.mjs')}`,
  register: `--import ${entryIn(OWN_FOLDER)}`,
};
const SERVER_KIND = 2;
const SHORTEST_SECONDS = 0.1;
const [QUARTER, HALF] = [0.25, 0.5];
const CONNECTIONS = 4;
const MINIFIED_CHARACTERS = 2;
const LONGEST_LINE = 500;
const SENT_MILLIS = 3000;
const EXPORT = { OTEL_BSP_SCHEDULE_DELAY: '500' };

/** @typedef {import('./recipes/install.mjs').Product} Product */
/** @typedef {'right' | 'awaits' | 'vague' | 'misleading' | 'not seen'} Verdict as in README.md */

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'recipes',
  about: 'whole products by the recipe of docs/products.md: blocks, names, cost (Linux)',
  minutes: 15,
  options: {
    product: { type: 'string', multiple: true, default: NAMES },
    launches: { type: 'string', default: '1' },
    requests: { type: 'string', default: '1500' },
    keep: { type: 'boolean', default: false },
  },
  async run({ nodes, options, report }) {
    if (!options.keep) installByRecipe(OWN_FOLDER);
    for (const { path: node, version } of nodes) {
      const found = [];
      const costs = [];
      for (const name of options.product) {
        /** @type {Product} */
        const product = (await import(`./recipes/${name}.mjs`)).default;
        const folder = installProduct(name, product, node, options.keep);
        try {
          const watched = await watch(product, node, folder);
          for (const line of watched.lines) report.note(`${product.title}: ${line}`);
          found.push([product.title, ...watched.figures]);
          report.note(`${FOUND.join(', ')}: ${found.at(-1)?.join(', ')}`);
          if (product.ownSdk !== undefined)
            report.note(`${product.title}, its own SDK: ${await ownSdk(product, node, folder)}`);
          const readings = [];
          for (let i = 0; i < Number(options.launches); i++) {
            const round = {};
            for (const mode of Object.keys(MODES))
              round[mode] = await measure(product, node, folder, mode, Number(options.requests));
            readings.push(round);
          }
          for (const mode of options.launches === '0' ? [] : Object.keys(MODES)) {
            const of = (key) => median(readings.map((round) => round[mode][key])).toFixed(2);
            costs.push([product.title, mode, of('start'), of('visit'), of('light')]);
            report.note(`${COST.join(', ')}: ${costs.at(-1)?.join(', ')}`);
          }
        } catch (error) {
          report.note(`${product.title} FAILED: ${/** @type {Error} */ (error).stack}`);
          process.exitCode = 1;
        } finally {
          if (!options.keep) rmSync(join(folder, 'node_modules'), { recursive: true, force: true });
        }
      }
      report.table(`Node.js ${version}: blocks of 100 ms or more`, FOUND, found);
      report.table(`Node.js ${version}: CPU, medians of ${options.launches} launches`, COST, costs);
    }
    if (!options.keep) rmSync(OWN_FOLDER, { recursive: true, force: true });
  },
};

const FOUND = [
  'product',
  'blocks',
  'before ready',
  'right',
  'awaits it',
  'vague',
  'misleading',
  'not seen',
  'in a request',
  'with a parent',
];
const COST = ['product', 'preloaded', 'start, s', 'visit, s', 'a light request, ms'];

const howToStart = (
  /** @type {Product} */ product,
  /** @type {string} */ node,
  /** @type {string} */ folder,
  /** @type {NodeJS.ProcessEnv} */ env,
) => ({
  folder,
  node,
  path: product.ready,
  command: () => ['sh', '-c', startOf(product.title.split(' ')[0])],
  env: () => ({
    ...env,
    PATH: [dirname(node), join(folder, 'node_modules/.bin'), process.env['PATH']].join(':'),
  }),
});

/** CPU from the start to the first answer, of a visit, and of a request that blocks nothing. */
async function measure(product, node, folder, mode, requests) {
  const receiver = await OtlpReceiver.listen();
  const agent = new Agent({ keepAlive: true });
  const env = { ...receiver.env, ...EXPORT, NODE_OPTIONS: MODES[mode] };
  try {
    return await withProduct(product, howToStart(product, node, folder, env), async (running) => {
      const start = running.cpuMillis();
      await product.visit(new Client(running.url), folder);
      const visited = running.cpuMillis();
      const load = (/** @type {number} */ count) =>
        closedLoop(`${running.url}${product.light}`, {
          connections: CONNECTIONS,
          requests: count,
          agent,
        });
      // V8 compiles what the first thousands call.
      await load(requests * 2);
      const before = running.cpuMillis();
      await load(requests);
      return {
        start: start / 1000,
        visit: (visited - start) / 1000,
        light: (running.cpuMillis() - before) / requests,
      };
    });
  } finally {
    agent.destroy();
    receiver.close();
  }
}

/** What is reported, beside V8's profile of the same processes. */
async function watch(product, node, folder) {
  const receiver = await OtlpReceiver.listen();
  const NODE_OPTIONS = `${MODES.register} --require ${PROFILER}`;
  const how = howToStart(product, node, folder, { ...receiver.env, ...EXPORT, NODE_OPTIONS });
  const withData = {
    ...how,
    env: (given) => ({ ...how.env(), REAL_APPS_PROFILES: given.data }),
  };
  try {
    return await withProduct(product, withData, async (running) => {
      const readyUnix = unix();
      await product.visit(new Client(running.url), folder);
      await sleep(SENT_MILLIS);
      const clock = { micros: Number(process.hrtime.bigint() / 1000n), unix: unix() };
      const profiles = await collectProfiles(running.data);
      const said = running.stderr().match(new RegExp(`^${PACKAGE_NAME}/.*`, 'gm')) ?? [];
      return { ...judgeAll(receiver.spans, profiles, clock, readyUnix, folder, said) };
    });
  } finally {
    receiver.close();
  }
}

/** With an SDK of the product's and an api of another version: what is said on stderr. */
async function ownSdk(product, node, folder) {
  const env = { ...product.ownSdk, NODE_OPTIONS: MODES.register };
  return await withProduct(product, howToStart(product, node, folder, env), async ({ stderr }) => {
    await sleep(SENT_MILLIS);
    const [line] = /^.*: two copies of .*/m.exec(stderr()) ?? [];
    if (line === undefined) throw new Error('a second copy of the api is not said');
    return line;
  });
}

const unix = () => performance.timeOrigin + performance.now();

function judgeAll(spans, profiles, clock, readyUnix, folder, said) {
  const requests = spans.filter(({ kind }) => kind === SERVER_KIND);
  const blocks = spans.filter(
    ({ name, seconds, attributes }) =>
      name === BLOCK_SPAN &&
      attributes['thread.id'] === 0 &&
      attributes['event_loop.block.unfinished'] === undefined &&
      (attributes['event_loop.block.duration'] ?? seconds) >= SHORTEST_SECONDS,
  );
  if (requests.length === 0) throw new Error('the recipe exports no request');
  if (blocks.length === 0) throw new Error('the recipe exports no block');
  const read = profiles.map((profile) => new Profile(profile, folder));
  const toMicros = (/** @type {number} */ at) => clock.micros + (at - clock.unix) * 1000;
  const lines = said.map((line) => `on stderr: ${line}`);
  const judged = blocks.map((block) => {
    const { start, end, attributes, resource } = block;
    const pid = resource['process.pid'];
    const truth =
      read.find((profile) => profile.pid === pid)?.between(toMicros(start), toMicros(end)) ??
      new Stacks([], folder);
    const isEarly = start < readyUnix;
    // Before the product is ready, requests ask whether it is; a pile-up may be of several.
    const isInRequest =
      !isEarly &&
      attributes['event_loop.block.kind'] !== 'pile-up' &&
      requests.some(
        (one) => one.start < end && one.end > start && one.resource['process.pid'] === pid,
      );
    const hasParent = block.parentSpanId !== undefined;
    const request = requests.find(({ traceId }) => traceId === block.traceId);
    const share = shareOfPlace(attributes, truth);
    const verdict = verdictOn(attributes, truth, share);
    const where = isEarly ? 'before ready' : (request?.name ?? 'in no trace');
    if (verdict !== 'right' || (isInRequest && !hasParent))
      lines.push(
        `${verdict}, ${where}: ${describe(attributes, end - start, share, folder)}\n` +
          `    profile: ${truth.describe()}`,
      );
    return { verdict, isInRequest, hasParent, isEarly };
  });
  const count = (/** @type {(block: typeof judged[0]) => boolean} */ is) =>
    String(judged.filter(is).length);
  return {
    lines,
    figures: [
      String(judged.length),
      count(({ isEarly }) => isEarly),
      ...['right', 'awaits', 'vague', 'misleading', 'not seen'].map((each) =>
        count(({ verdict }) => verdict === each),
      ),
      count(({ isInRequest }) => isInRequest),
      count(({ isInRequest, hasParent }) => isInRequest && hasParent),
    ],
  };
}

function describe(attributes, millis, share, folder) {
  const of = (/** @type {string} */ name) => attributes[`event_loop.block.${name}`];
  const { 'code.function.name': name, 'code.file.path': file = '' } = attributes;
  return (
    `${millis.toFixed(0)} ms, ${of('kind')}, ${of('cause')}, ${name} ` +
    `(${shorten(file, folder)}:${attributes['code.line.number']}), ` +
    `${Math.round(share * 100)} % in the profile, ${of('samples')} samples, top ${of('top_functions')}`
  );
}

/** How much of the profile the function that is told was on the stack. */
function shareOfPlace(attributes, truth) {
  const place = sourcePlace(
    attributes['code.function.name'] ?? '',
    attributes['code.file.path'] ?? '',
    attributes['code.line.number'] ?? 0,
    attributes['code.column.number'] ?? 0,
  );
  // A map may have the source of a minified function, and not its name.
  const isMinified = (
    /** @type {import('./real-apps/support/places.mjs').Place} */ { name, file },
  ) => file === place.file && name.length <= MINIFIED_CHARACTERS;
  return truth.share((path) => path.some((each) => isSame(place, each) || isMinified(each)));
}

/** @returns {Verdict} */
function verdictOn(attributes, truth, share) {
  if (attributes['event_loop.block.cause'] === 'gc' && truth.shareOfCollection >= HALF)
    return 'right';
  if (attributes['code.function.name'] === undefined) return 'vague';
  if (share >= QUARTER) return 'right';
  if (lineOf(attributes).includes('await ')) return 'awaits';
  return truth.codeMillis < truth.millis * QUARTER ? 'not seen' : 'misleading';
}

/** The line of source that is told, if it can be read. */
function lineOf({ 'code.file.path': file = '', 'code.line.number': line }) {
  const text = existsSync(file) ? readFileSync(file, 'utf8').split('\n')[line - 1] : undefined;
  // A bundle may be one line.
  return text === undefined || text.length > LONGEST_LINE ? '' : text;
}
