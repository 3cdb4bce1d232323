// What the two services have in common.
const { setImmediate: nextIteration } = require('node:timers/promises');

const ROWS = 20;

/** As from a database: a later iteration has the answer, and a few promises lie between. */
async function find(/** @type {number} */ id) {
  await nextIteration();
  return Array.from({ length: ROWS }, (_, i) => ({ id: id + i, name: `item ${id + i}` }));
}

/** Says where it listens, and ends with the benchmark. */
function listening(/** @type {number} */ port) {
  process.on('disconnect', () => process.exit());
  process.send(port);
}

module.exports = { listening, find };
