// Promises: what a capture costs the code that blocks: how late it comes, how long it takes, how much longer the block
// becomes; see README.md.
//
//   npm run bench -- capture --node .matrix/node-24/node_modules/.bin/node --blocks 200
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { interval, median, quantile } from './statistics.mjs';

/** @type {import('./registry.mjs').Bench} */
export default {
  name: 'capture',
  about: 'how late a capture comes, how long it takes, how much longer the block becomes',
  minutes: 2,
  options: {
    blocks: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '20' },
  },
  async run({ nodes, options, report }) {
    for (const { path, version } of nodes) {
      const measured = measure(path, options);
      const { latencies, lengths, blockMillis, clockError, perBlock, added } = measured;
      report.table(
        `Node.js ${version}: ${latencies.length} captures in blocks of ${blockMillis.toFixed(0)} ms`,
        ['milliseconds', 'median', 'p99', 'most'],
        [
          ['from request to capture', ...spread(latencies)],
          ['inside the capture', ...spread(lengths)],
        ],
        measured,
      );
      report.note(`the watchdog's clock is ahead by ${clockError.toFixed(3)} ms: taken out of the first row`);
      report.note(`added per capture: ${interval(added, 2)} ms (${perBlock} captures a block)`);
    }
  },
};

function measure(/** @type {string} */ path, /** @type {{ blocks: string, rounds: string }} */ options) {
  const script = join(import.meta.dirname, 'measure-capture.mjs');
  const { status, stdout, error } = spawnSync(path, [script, options.blocks, options.rounds], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`${path} failed to measure: ${error?.message ?? `status ${status}`}`);
  return JSON.parse(stdout);
}

function spread(/** @type {number[]} */ values) {
  return [median(values), quantile(values, 0.99), Math.max(...values)].map((value) => value.toFixed(2));
}
