// Promises: what a capture costs the code that blocks: how late it comes, how long it takes, how much longer the block
// becomes; see README.md. Needs the build: `npm run build` first.
//
//   npm run bench:capture
//   npm run bench:capture -- --node .matrix/node-24/node_modules/.bin/node --blocks 200
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { printMachine } from './machine.mjs';
import { interval, median, quantile } from './statistics.mjs';
import { table } from './table.mjs';

const { values: options } = parseArgs({
  options: {
    node: { type: 'string', multiple: true, default: [process.execPath] },
    blocks: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '20' },
  },
});

printMachine(`${options.blocks} blocks captured, then ${options.rounds} rounds on and off`);
for (const path of options.node) {
  const { node, latencies, lengths, blockMillis, clockError, perBlock, added } = measure(path);
  console.log(
    `\nNode.js ${node.slice(1)}: ${latencies.length} captures in blocks of ${blockMillis.toFixed(0)} ms`,
  );
  console.log(
    table(
      ['milliseconds', 'median', 'p99', 'most'],
      [
        ['from request to capture', ...spread(latencies)],
        ['inside the capture', ...spread(lengths)],
      ],
    ),
  );
  console.log(`the watchdog's clock is ahead by ${clockError.toFixed(3)} ms: taken out of the first row`);
  console.log(`added per capture: ${interval(added, 2)} ms (${perBlock} captures a block)`);
}

function measure(/** @type {string} */ path) {
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
