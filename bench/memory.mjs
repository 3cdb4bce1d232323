// Promises: the heap stays flat over ten million promises and a million timers with the instrumentation on, in each `asyncHooks` mode, beside a
// process without it ('nothing'); exit code 1 when it grows by more than MAX_GROWTH_BYTES.
//
//   npm run bench -- memory --mode promises --threshold 1
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** A tenth of a byte per promise: one pointer kept for each would be 80 MB. */
const MAX_GROWTH_BYTES = 1024 * 1024;

/** @type {import('./registry.mjs').Bench} */
export default {
  name: 'memory',
  about: 'the heap over ten million promises and a million timers',
  minutes: 2,
  options: {
    mode: { type: 'string', multiple: true, default: ['nothing', 'callbacks', 'promises', 'off'] },
    threshold: { type: 'string', default: '100' },
  },
  async run({ nodes, options, report }) {
    for (const { path, version } of nodes) {
      const modes = options.mode.map((/** @type {string} */ mode) => ({
        mode,
        looks: measure(path, mode, options.threshold),
      }));
      const growthOf = (/** @type {any} */ { looks }, i = looks.length - 1) =>
        looks[i].bytes - looks[0].bytes;
      report.table(
        `Node.js ${version}: KiB of heap since warm-up, by asyncHooks mode; at most ${kib(MAX_GROWTH_BYTES)} allowed`,
        ['', ...modes.map(({ mode }) => mode)],
        modes[0].looks.map(({ label }, i) => [label, ...modes.map((each) => kib(growthOf(each, i)))]),
        modes,
      );
      for (const each of modes) {
        if (growthOf(each) <= MAX_GROWTH_BYTES) continue;
        report.note(`${each.mode}: NOT FLAT`);
        process.exitCode = 1;
      }
    }
  },
};

/** Each mode in a process of its own, with the garbage collector at hand. */
function measure(/** @type {string} */ path, /** @type {string} */ mode, /** @type {string} */ threshold) {
  const script = join(import.meta.dirname, 'measure-memory.mjs');
  const { status, stdout, error } = spawnSync(path, ['--expose-gc', script, mode, threshold], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0)
    throw new Error(`${path} failed to measure ${mode}: ${error?.message ?? `status ${status}`}`);
  return /** @type {{ label: string, bytes: number }[]} */ (JSON.parse(stdout));
}

function kib(/** @type {number} */ bytes) {
  return (bytes / 1024).toFixed(0);
}
