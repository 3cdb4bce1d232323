// Promises: whether another build of this package costs more or less while nothing blocks: the
// operations of `hooks`, in a process for each build, in turn; see README.md.
//
//   npm run bench -- builds --build ../older --node .matrix/node-24/node_modules/.bin/node
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { estimate, interval, quantile } from '../tools/statistics.cjs';
import { prepareProcess } from './hooks/period.mjs';
import { WORKLOADS } from './hooks/workloads.mjs';
import { answerInFreshProcess, measureInFreshProcess } from './support/fresh-process.mjs';

const ROOT = resolve(import.meta.dirname, '..');
/** Of each operation, before it counts: its functions are compiled. */
const WARM_UP_SLICES = 30;
const SLICES = 120;
/** Of a process's slices, the value that this share is not above: the machine slows the others. */
const UNDISTURBED = 0.1;
const NOISE = 'this, again';

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'builds',
  about: 'ns that an operation takes, beside another build of this package',
  minutes: 1,
  options: {
    build: { type: 'string', multiple: true, default: [] },
    runs: { type: 'string', default: '7' },
    mode: { type: 'string', default: 'auto' },
  },
  async run({ nodes, options, report }) {
    const builds = [
      { name: 'this', folder: ROOT },
      { name: NOISE, folder: ROOT },
      ...options.build.map((/** @type {string} */ path) => ({
        name: path,
        folder: resolve(path),
      })),
    ];
    for (const { path, version } of nodes) {
      /** By build, for each run: nanoseconds by workload. */
      const measured = new Map(builds.map(({ name }) => [name, /** @type {number[][]} */ ([])]));
      for (let run = 0; run < Number(options.runs); run++) {
        // Which one comes first changes from run to run, so that no drift favours either.
        for (const { name, folder } of run % 2 === 0 ? builds : builds.toReversed()) {
          measured
            .get(name)
            ?.push(measureInFreshProcess(import.meta.url, path, [folder, options.mode]));
        }
      }
      report.table(
        `Node.js ${version}: ns per operation, difference to this build of the same run, median [95 % interval]`,
        ['', ...WORKLOADS.map(({ name }) => name)],
        builds.map(({ name }) => [name, ...columns(name, measured)]),
        Object.fromEntries(measured),
      );
    }
  },
};

function columns(/** @type {string} */ name, /** @type {Map<string, number[][]>} */ measured) {
  const own = measured.get('this') ?? [];
  return WORKLOADS.map((_, workload) => {
    const of = (/** @type {number[][]} */ runs) => runs.map((values) => values[workload] ?? 0);
    if (name === 'this') return estimate(of(own)).value.toFixed(0);
    const others = of(measured.get(name) ?? []);
    return interval(estimate(of(own).map((nanos, run) => (others[run] ?? 0) - nanos)), 0);
  });
}

await answerInFreshProcess(import.meta.url, measure);

/** The build in `folder`, enabled: nanoseconds for each workload. */
async function measure(/** @type {string} */ folder, /** @type {string} */ asyncHooks) {
  await prepareProcess();
  // By its own name, as a user's require would.
  const require = createRequire(join(folder, 'package.json'));
  const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
  const subject = new EventLoopInstrumentation({ asyncHooks });
  /** @type {number[][]} */
  const slices = WORKLOADS.map(() => []);
  for (let i = 0; i < WARM_UP_SLICES + SLICES; i++) {
    for (const [workload, { run, count }] of WORKLOADS.entries()) {
      await nextIteration();
      const nanos = await run(count);
      if (i >= WARM_UP_SLICES) slices[workload]?.push(nanos);
    }
  }
  subject.disable();
  return slices.map((values) => quantile(values, UNDISTURBED));
}
