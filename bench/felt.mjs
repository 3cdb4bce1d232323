// Guarantees: what is felt of the package after something blocked, and where CPU is scarce: the
// longest turn of the main thread's loop, and CPU of the process, with it and without; see
// README.md.
//
//   npm run bench -- felt --only bundle --node .matrix/node-24/node_modules/.bin/node
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { buildSync } from 'esbuild';
import { median, quantile } from '../tools/statistics.cjs';

const APP = join(import.meta.dirname, 'felt/app.cjs');
/** Open spans need an SDK. */
const entryOf = (/** @type {string} */ name) => (name === 'open' ? 'register' : 'console');
const ENV = {
  OTEL_INSTRUMENTATION_EVENT_LOOP_THRESHOLD_MILLIS: '50',
  OTEL_TRACES_EXPORTER: 'none',
  OTEL_METRICS_EXPORTER: 'none',
  OTEL_LOGS_EXPORTER: 'none',
};
/** Functions of the bundle: some 1 MB, with a map of 2 MB. */
const FUNCTIONS = 9000;
const BUSY_LOOP = 'for (;;);';
const WORK_CALLBACKS = 130;
/** A container with a tenth of a CPU: it runs for so long in each period. */
const QUOTA = { runMillis: 10, periodMillis: 100 };

/**
 * Of `--within`: some three times what a quiet machine shows. Others use the same CPUs, and 4 ms is
 * what the scheduler gives to each of them at once.
 */
const BOUNDS = { turnMillis: 8, cpuRatio: 1.6 };

/** @typedef {{ turns?: number[], cpuMillis?: number }} Found */

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'felt',
  about: 'what is felt of the package after a block, and beside busy processes',
  minutes: 6,
  options: {
    only: { type: 'string', multiple: true, default: ['bundle', 'many', 'open', 'work'] },
    rounds: { type: 'string', default: '5' },
    busy: { type: 'string', multiple: true, default: ['0', '4', '20', 'quota'] },
    /** Fails past the bounds; takes a minute. */
    within: { type: 'boolean', default: false },
  },
  async run({ nodes, options, report }) {
    const folder = mkdtempSync(join(tmpdir(), 'felt-'));
    const env = { ...process.env, ...ENV, FELT_BUNDLE: makeBundle(folder) };
    const { within } = options;
    const rounds = within ? 1 : Number(options.rounds);
    const only = within ? ['bundle turns', 'work'] : options.only;
    const callbacks = within ? WORK_CALLBACKS / 2 : WORK_CALLBACKS;
    /** @type {string[]} */
    const exceeded = [];
    const judge = (
      /** @type {string} */ what,
      /** @type {number} */ found,
      /** @type {number} */ most,
    ) => {
      if (within && !(found <= most))
        exceeded.push(`${what}: ${found.toFixed(2)}, at most ${most}`);
    };
    try {
      for (const { path, version } of nodes) {
        const ask = (/** @type {string} */ name, /** @type {number} */ count, busy = '0') =>
          inPairs(rounds, (isOn) => {
            const entry = `opentelemetry-instrumentation-event-loop/${entryOf(name)}`;
            const args = [...(isOn ? ['--import', entry] : []), APP, name, String(count)];
            return askOnce(path, args, env, busy);
          });
        const title = (/** @type {string} */ what) => `Node.js ${version}: ${what}`;
        const isWanted = (/** @type {string} */ name) =>
          only.some((each) => each.split(' ')[0] === name);
        const turns = [
          ...(isWanted('bundle')
            ? [{ name: 'bundle', what: 'a bundle of 1 MB with its map' }]
            : []),
          ...(isWanted('open') ? [{ name: 'open', what: '1000 open spans' }] : []),
        ];
        if (turns.length > 0) {
          /** @type {string[][]} */
          const rows = [];
          for (const { name, what } of turns) {
            const found = turnsOf(await ask(name, 8));
            judge(`longest turn beside ${what}, ms`, found[3] ?? Number.NaN, BOUNDS.turnMillis);
            rows.push([what, ...found.map((millis) => millis.toFixed(1))]);
          }
          report.table(
            title('longest turn of the loop in the second after a block, ms'),
            ['', 'without: median', 'p95', 'first block', 'median', 'p95'],
            rows,
          );
        }
        if (only.includes('bundle') || isWanted('many')) {
          /** @type {string[][]} */
          const rows = [];
          if (only.includes('bundle'))
            rows.push(['a bundle of 1 MB', ...cpuPerBlock(await ask('bundle, cpu', 8), 8)]);
          if (isWanted('many'))
            rows.push(['1000 blocks a minute', ...cpuPerBlock(await ask('many', 300), 300)]);
          report.table(
            title('CPU of the process for each block, beside the work itself, ms'),
            ['', 'without', 'with'],
            rows,
          );
        }
        if (isWanted('work')) {
          /** @type {string[][]} */
          const rows = [];
          for (const busy of within ? ['20'] : options.busy) {
            const pairs = await ask('work', callbacks, busy);
            const [off, on] = mediansOf(pairs, ({ cpuMillis }) => [cpuMillis ?? Number.NaN]);
            judge(`CPU of the same work beside ${busy}`, on / off, BOUNDS.cpuRatio);
            rows.push([
              busy === 'quota' ? 'a tenth of a CPU' : `${busy} busy processes`,
              off.toFixed(0),
              on.toFixed(0),
              (on / off).toFixed(2),
            ]);
          }
          report.table(
            title('CPU of the process for the same work, ms'),
            ['', 'without', 'with', 'ratio'],
            rows,
          );
        }
      }
      if (exceeded.length > 0) throw new Error(exceeded.join('; '));
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

/** A bundle that calls back from among many functions, and its source map. */
function makeBundle(/** @type {string} */ folder) {
  const parts = Array.from(
    { length: FUNCTIONS },
    (_, i) =>
      `export function part${i}(value) {\n  if (value === ${i}) return 'a part of number ${i}';\n  return value * ${i} + 'of ${i}'.length;\n}\n`,
  );
  parts.splice(
    FUNCTIONS / 2,
    0,
    'export function run(work) {\n  const done = work();\n  return [done];\n}\n',
  );
  writeFileSync(join(folder, 'parts.ts'), parts.join(''));
  const outfile = join(folder, 'bundle.cjs');
  buildSync({
    entryPoints: [join(folder, 'parts.ts')],
    outfile,
    bundle: true,
    minify: true,
    sourcemap: true,
    format: 'cjs',
    platform: 'node',
  });
  return outfile;
}

/**
 * With the package and without it, in turn.
 * @param {number} rounds
 * @param {(isOn: boolean) => Promise<Found>} ask
 */
async function inPairs(rounds, ask) {
  /** @type {{ off: Found[], on: Found[] }} */
  const found = { off: [], on: [] };
  for (let round = 0; round < rounds; round++) {
    for (const state of /** @type {const} */ (round % 2 === 0 ? ['off', 'on'] : ['on', 'off']))
      found[state].push(await ask(state === 'on'));
  }
  return found;
}

/** @returns {Promise<Found>} */
async function askOnce(
  /** @type {string} */ node,
  /** @type {string[]} */ args,
  /** @type {NodeJS.ProcessEnv} */ env,
  /** @type {string} */ busy,
) {
  const isLimited = busy === 'quota';
  const others = Array.from({ length: isLimited ? 0 : Number(busy) }, () =>
    spawn(node, ['-e', BUSY_LOOP]),
  );
  const app = spawn(node, args, {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    cwd: import.meta.dirname,
  });
  const limit = isLimited
    ? setInterval(() => runFor(app, QUOTA.runMillis), QUOTA.periodMillis)
    : undefined;
  try {
    const [out, [code]] = await Promise.all([text(app.stdout), once(app, 'exit')]);
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
    return JSON.parse(out);
  } finally {
    clearInterval(limit);
    for (const other of others) other.kill('SIGKILL');
  }
}

function runFor(
  /** @type {import('node:child_process').ChildProcess} */ app,
  /** @type {number} */ millis,
) {
  app.kill('SIGCONT');
  setTimeout(() => app.kill('SIGSTOP'), millis);
}

/** @typedef {Awaited<ReturnType<typeof inPairs>>} Pairs */

const mediansOf = (
  /** @type {Pairs} */ { off, on },
  /** @type {(found: Found) => number[]} */ values,
) => [median(off.flatMap(values)), median(on.flatMap(values))];

/** The first block starts the thread that explains. */
function turnsOf(/** @type {Pairs} */ { off, on }) {
  const later = (/** @type {Found[]} */ found) => found.flatMap(({ turns = [] }) => turns.slice(1));
  const first = on.map(({ turns = [] }) => turns[0] ?? Number.NaN);
  return [
    median(later(off)),
    quantile(later(off), 0.95),
    median(first),
    median(later(on)),
    quantile(later(on), 0.95),
  ];
}

const cpuPerBlock = (/** @type {Pairs} */ pairs, /** @type {number} */ blocks) =>
  mediansOf(pairs, ({ cpuMillis }) => [cpuMillis ?? Number.NaN]).map((millis) =>
    (millis / blocks).toFixed(2),
  );
