// Guarantees: every benchmark by its name, in the file of that name.

/**
 * @typedef {object} Bench
 * @property {string} name
 * @property {string} about one line
 * @property {number} minutes how long it takes with its defaults, on one Node.js
 * @property {import('node:util').ParseArgsConfig['options']} options of its own, beside `--node`
 *   and `--json`
 * @property {(run: Run) => Promise<void>} run
 *
 * @typedef {{ path: string, version: string }} Node
 * @typedef {{ nodes: Node[], options: Record<string, any>,
 *   report: import('./report.mjs').Report }} Run
 */

const NAMES = ['truth', 'real-apps', 'recipes', 'cost', 'idle', 'overload', 'felt', 'campaign'];

/** @returns {Promise<Bench[]>} */
export async function loadBenches() {
  return Promise.all(NAMES.map(async (name) => (await import(`../${name}.mjs`)).default));
}
