// Promises: what a wrapped built-in costs in a call that is not long: wrapped and not wrapped in
// turn, in one process.
// Bundles the sources, so it needs no build.
//
//   node bench/native-calls.mjs --node .matrix/node-24/node_modules/.bin/node --node /usr/bin/node
//   node bench/native-calls.mjs --only 'JSON.parse, 30 characters' --rounds 200
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { interval } from '../tools/statistics.cjs';
import { table } from '../tools/table.cjs';

const { values } = parseArgs({
  options: {
    node: { type: 'string', multiple: true, default: [process.execPath] },
    only: { type: 'string', multiple: true, default: [] },
    rounds: { type: 'string', default: '100' },
  },
});

const folder = mkdtempSync(join(tmpdir(), 'native-calls-bench-'));
try {
  const outfile = join(folder, 'native-calls.cjs');
  await build({
    entryPoints: [join(import.meta.dirname, '../src/hooks/native-calls.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20.18',
  });
  for (const node of values.node) measure(node, outfile);
} finally {
  rmSync(folder, { recursive: true });
}

function measure(/** @type {string} */ node, /** @type {string} */ module) {
  const script = join(import.meta.dirname, 'measure-native-calls.mjs');
  const { status, stdout } = spawnSync(node, [script, module, values.rounds, ...values.only], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`${node} failed to measure: status ${status}`);
  const { version, rows } = JSON.parse(stdout);
  console.log(`\nNode.js ${version}, nanoseconds per call, median [95 % interval]\n`);
  console.log(
    table(
      ['call', 'off', 'added', 'ratio'],
      rows.map((/** @type {any} */ row) => [
        row.name,
        row.off.toFixed(0),
        interval(row.added, 1),
        interval(row.ratio, 3),
      ]),
    ),
  );
}
