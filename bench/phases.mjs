// Promises: how well the shares of `top_functions` hold in blocks of two phases, JavaScript and one
// native call, in either order: against what the application measured around each phase.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { median } from '../tools/statistics.cjs';
import { messageOf } from './support/child-message.mjs';

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'phases',
  about: 'how well the shares of functions hold in a block of two phases',
  minutes: 1,
  options: { rounds: { type: 'string', default: '5' } },
  async run({ nodes, options, report }) {
    for (const { path, version } of nodes) {
      const child = fork(join(import.meta.dirname, 'phases/blocks.cjs'), [options.rounds], {
        execPath: path,
      });
      const blocks = await messageOf(child);
      child.disconnect();
      if (child.exitCode === null) await once(child, 'exit');
      /** @type {Record<string, any[]>} */
      const byShape = group(blocks);
      const points = (/** @type {number[]} */ errors) => errors.map((error) => 100 * error);
      report.table(
        `Node.js ${version}: shares of ${blocks.length} blocks of 1 s or more, in points from what was measured`,
        ['', 'blocks', 'median error', 'worst error', 'named the heavier'],
        Object.entries(byShape).map(([shape, list]) => {
          const errors = points(list.map(({ error }) => error));
          return [
            shape,
            String(list.length),
            median(errors).toFixed(1),
            Math.max(...errors).toFixed(1),
            shape.includes('50') ? '–' : String(list.filter(({ isHeavier }) => isHeavier).length),
          ];
        }),
        blocks,
      );
    }
  },
};

function group(/** @type {any[]} */ blocks) {
  /** @type {Record<string, any[]>} */
  const groups = {};
  for (const block of blocks) {
    groups[block.shape] ??= [];
    groups[block.shape].push(block);
  }
  return groups;
}
