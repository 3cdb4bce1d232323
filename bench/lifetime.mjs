// Guarantees: what a tool costs a process beside its requests: its start, its memory after a day of
// blocks, and the time until a block is reported; see README.md.
//
//   npm run bench -- lifetime --part start --rounds 3
import { measureDay } from './lifetime/day.mjs';
import { measureReports } from './lifetime/reports.mjs';
import { measureStart } from './lifetime/start.mjs';
import loadBench from './load.mjs';
import { installPeers } from './peers/install.mjs';

/**
 * @typedef {(run: { path: string, version: string, options: Record<string, any>,
 *   report: import('./support/report.mjs').Report }) => Promise<void>} Part
 */

/** @type {Record<string, Part>} */
const PARTS = { start: measureStart, day: measureDay, reports: measureReports };

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'lifetime',
  about: 'start-up, memory after a day of blocks, time until a block is reported, for each tool',
  minutes: 16,
  options: {
    part: { type: 'string', multiple: true, default: Object.keys(PARTS) },
    rounds: { type: 'string', default: '7' },
    tool: { type: 'string', multiple: true },
    blocks: { type: 'string', default: '0.2x6,2x4,20x2,neverx2' },
    subjects: { type: 'string', multiple: true, default: loadBench.options?.['only']?.default },
  },
  async run({ nodes, options, report }) {
    report.versions(installPeers());
    for (const { path, version } of nodes) {
      for (const part of options.part) await PARTS[part]({ path, version, options, report });
    }
  },
};
