// Promises: what EventLoopSpanProcessor adds to a span that never met a block, and what a call of `health()` takes; see README.md.
//
//   npm run bench -- span-processor --rounds 200 --node .matrix/node-24/node_modules/.bin/node
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { interval } from './statistics.mjs';

/** @type {import('./registry.mjs').Bench} */
export default {
  name: 'span-processor',
  about: 'ns that EventLoopSpanProcessor adds to a span; a call of health()',
  minutes: 1,
  options: { rounds: { type: 'string', default: '100' } },
  async run({ nodes, options, report }) {
    for (const { path, version } of nodes) {
      const measured = measure(path, options.rounds);
      report.table(
        `Node.js ${version}: nanoseconds a span, median [95 % interval]`,
        ['kind', 'without', 'added'],
        measured.kinds.map((/** @type {any} */ { kind, without, added }) => [
          kind,
          interval(without, 0),
          interval(added, 0),
        ]),
        measured,
      );
      report.note(`health(): ${interval(measured.health, 0)} ns a call`);
    }
  },
};

function measure(/** @type {string} */ path, /** @type {string} */ rounds) {
  const script = join(import.meta.dirname, 'measure-span-processor.mjs');
  const { status, stdout, error } = spawnSync(path, [script, rounds], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`${path} failed to measure: ${error?.message ?? `status ${status}`}`);
  return JSON.parse(stdout);
}
