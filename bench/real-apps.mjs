// Guarantees: real applications, started as their users do with `/register`, and asked case by case
// for what blocks them: every block over the threshold is judged by the place that a developer
// would change. That place is a label of the case, and V8's profile of another launch, without this
// package, must have it on the stack for at least half of the time.
//
//   npm run bench -- real-apps --app nest --app next --node .matrix/node-24/node_modules/.bin/node
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { watchConsumer } from './real-apps/support/consumers.mjs';
import { buildApp, installAgent, installApp } from './real-apps/support/install.mjs';
import { judge } from './real-apps/support/judge.mjs';
import { launch, NO_TOOL, THRESHOLD_MILLIS, thisPackage } from './real-apps/support/launch.mjs';

const APPS = readdirSync(join(import.meta.dirname, 'real-apps')).filter((name) =>
  existsSync(join(import.meta.dirname, 'real-apps', name, 'app.mjs')),
);
/** The option's default, half of it, and what has a stack sample or two. */
const LENGTHS = [THRESHOLD_MILLIS, 30, 50, 100];
/** The first time code is loaded and compiled; the second time it is warm. */
const ROUNDS = 2;

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'real-apps',
  about: 'what is named for the blocks of real applications, and in which trace',
  minutes: 6,
  options: {
    app: { type: 'string', multiple: true },
    consumer: { type: 'string', multiple: true },
    rounds: { type: 'string' },
    keep: { type: 'boolean' },
  },
  async run({ nodes, options, report }) {
    installAgent(options.keep === true);
    for (const node of nodes) {
      /** @type {Record<string, ReturnType<typeof judge>>} */
      const results = {};
      /** @type {Record<string, Awaited<ReturnType<typeof watchConsumer>>>} */
      const consumers = {};
      const failed = (/** @type {string} */ name, /** @type {unknown} */ error) =>
        report.note(`${name} FAILED: ${/** @type {Error} */ (error).message}`);
      for (const name of options.app ?? APPS) {
        try {
          const { app, folder } = await prepareApp(node, name);
          for (const each of app.consumers ?? []) {
            if (options.consumer && !options.consumer.includes(each.name)) continue;
            try {
              consumers[each.name] = await watchConsumer(each, node.path, folder);
              tellConsumer(report, each.name, consumers[each.name]);
            } catch (error) {
              failed(each.name, error);
            }
          }
          if (app.cases.length === 0 || options.consumer) continue;
          results[name] = await runApp(node, app, folder, Number(options.rounds ?? ROUNDS));
          tell(report, name, results[name]);
        } catch (error) {
          failed(name, error);
        }
      }
      if (Object.keys(results).length > 0) summarize(report, node.version, results);
      if (Object.keys(consumers).length > 0) summarizeConsumers(report, node.version, consumers);
    }
  },
};

async function prepareApp(
  /** @type {import('./support/registry.mjs').Node} */ { path: node },
  /** @type {string} */ name,
) {
  /** @type {import('./real-apps/support/launch.mjs').App} */
  const app = (await import(`./real-apps/${name}/app.mjs`)).default;
  const folder = installApp(name);
  buildApp(name, node, app.build ?? []);
  return { app, folder };
}

async function runApp(
  /** @type {import('./support/registry.mjs').Node} */ { path: node },
  /** @type {import('./real-apps/support/launch.mjs').App} */ app,
  /** @type {string} */ folder,
  /** @type {number} */ rounds,
) {
  const without = await launch(app, node, folder, NO_TOOL, rounds);
  const measured = await launch(app, node, folder, thisPackage(app), rounds);
  return judge(without, measured, folder, THRESHOLD_MILLIS, app.dispatchers);
}

/** What is not right, with what V8's profiler saw beside it. */
function tell(
  /** @type {import('./support/report.mjs').Report} */ report,
  /** @type {string} */ name,
  /** @type {ReturnType<typeof judge>} */ result,
) {
  const { blocks, badLabels, outside, invented, missed, differences } = result;
  const lines = [
    ...blocks
      .filter(
        ({ verdict, parent }) =>
          (verdict !== 'right' && verdict !== 'no CPU') || ['wrong', 'unknown'].includes(parent),
      )
      .map(
        ({
          name: which,
          round,
          millis,
          cpuMillis,
          verdict,
          place,
          cause,
          parent,
          top,
          truth,
          samples,
        }) =>
          `${verdict}, parent ${parent}: ${which} ${round}, ${millis.toFixed(0)} ms (CPU ${cpuMillis.toFixed(0)}): ${place}, ${cause ?? 'no cause'}` +
          `, ${samples} samples\n    top: ${top}\n    truth: ${truth}`,
      ),
    ...badLabels.map((line) => `LABEL: ${line}`),
    ...outside.map((line) => `outside of all cases: ${line}`),
    ...invented.map((line) => `the profiler saw nothing: ${line}`),
    ...missed.map((line) => `not reported: ${line}`),
    ...differences.map((line) => `differs: ${line}`),
  ];
  report.note(`\n${name}: ${blocks.length} blocks${lines.map((line) => `\n  ${line}`).join('')}`);
}

/** @typedef {Awaited<ReturnType<typeof watchConsumer>>} Watched */

/** What is not right, and what blocked beside the jobs. */
function tellConsumer(
  /** @type {import('./support/report.mjs').Report} */ report,
  /** @type {string} */ name,
  /** @type {Watched} */ { jobs, wrong, others },
) {
  const lines = [...wrong, ...others.map((line) => `beside the jobs: ${line}`)];
  report.note(`\n${name}: ${jobs} jobs${lines.map((line) => `\n  ${line}`).join('')}`);
}

function summarizeConsumers(
  /** @type {import('./support/report.mjs').Report} */ report,
  /** @type {string} */ version,
  /** @type {Record<string, Watched>} */ consumers,
) {
  const rows = Object.entries(consumers).map(([name, watched]) => {
    const { jobs, found, named, children, roots, victims, queued, waited, told } = watched;
    const off = `${(100 * (told / waited - 1)).toFixed(1)} %`;
    const counts = [jobs, found, named, children, roots, jobs - children - roots, victims];
    const times = [queued, Math.round(waited), Math.round(told)];
    return [name, ...counts.map(String), ...times.map(String), off];
  });
  report.table(
    `Node.js ${version}: jobs of consumers that a request has started`,
    CONSUMER_HEAD,
    rows,
    consumers,
  );
}

const CONSUMER_HEAD = [
  'consumer',
  'jobs',
  'found',
  'named',
  'child of an open request',
  'root with made_by',
  'wrong trace',
  'victims of their own job',
  'queued',
  'waited, ms',
  'told, ms',
  'off',
];

function summarize(
  /** @type {import('./support/report.mjs').Report} */ report,
  /** @type {string} */ version,
  /** @type {Record<string, ReturnType<typeof judge>>} */ results,
) {
  const rows = Object.entries(results).map(([name, result]) => [name, ...figures(result)]);
  const all = rows.reduce(
    (sums, row) => sums.map((sum, i) => sum + Number(row[i + 1])),
    Array(HEAD.length - 1).fill(0),
  );
  report.table(
    `Node.js ${version}: blocks over ${THRESHOLD_MILLIS} ms`,
    HEAD,
    [...rows.map((row) => row.map(String)), ['all', ...all.map(String)]],
    results,
  );
  report.table(
    `Node.js ${version}: by the length of blocks`,
    [
      'from, ms',
      'blocks',
      'right',
      'named',
      'of these, right',
      'misled',
      'with a request',
      'parent right',
    ],
    LENGTHS.map((millis) => byLength(Object.values(results), millis)),
  );
}

/** Of the blocks of this length and longer that had a CPU. */
function byLength(/** @type {ReturnType<typeof judge>[]} */ results, /** @type {number} */ from) {
  const judged = results
    .flatMap(({ blocks }) => blocks)
    .filter(({ millis, verdict }) => millis >= from && verdict !== 'no CPU');
  const inRequest = judged.filter(({ parent }) => isInRequest(parent));
  const share = (/** @type {unknown[]} */ part, /** @type {unknown[]} */ all) =>
    `${((part.length / all.length) * 100).toFixed(1)} %`;
  const right = judged.filter(({ verdict }) => verdict === 'right');
  const named = judged.filter(({ verdict }) => verdict !== 'none');
  const misled = judged.filter(({ verdict }) => verdict === 'misled');
  const known = inRequest.filter(({ parent }) => parent === 'right');
  return [
    `${from}`,
    `${judged.length}`,
    share(right, judged),
    `${named.length}`,
    share(right, named),
    share(misled, named),
    `${inRequest.length}`,
    share(known, inRequest),
  ];
}

const isInRequest = (/** @type {string} */ parent) => !['none needed', 'several'].includes(parent);

const HEAD = [
  'application',
  'blocks',
  'right',
  'near',
  'unclear',
  'misled',
  'no name',
  'no CPU',
  'with a request',
  'parent right',
  'several',
  'missed',
  'invented',
  'differences',
  'bad labels',
];

function figures(/** @type {ReturnType<typeof judge>} */ result) {
  const { blocks, badLabels, invented, missed, differences } = result;
  const count = (/** @type {(block: typeof blocks[0]) => boolean} */ is) =>
    blocks.filter(is).length;
  return [
    blocks.length,
    ...['right', 'near', 'unclear', 'misled', 'none', 'no CPU'].map((verdict) =>
      count((block) => block.verdict === verdict),
    ),
    count(({ parent }) => isInRequest(parent)),
    count(({ parent }) => parent === 'right'),
    count(({ parent }) => parent === 'several'),
    missed.length,
    invented.length,
    differences.length,
    badLabels.length,
  ];
}
