// Pieces of code that take a number of units of work, each in a function of its own name.
const { pbkdf2Sync } = require('node:crypto');

// In jest's sandbox every use of a global is slow.
const { imul } = Math;

exports.kept = undefined;

function hash(units) {
  let hash = 0;
  for (let i = 0; i < units * 1000; i++) hash = imul(hash ^ i, 0x01000193);
  return hash;
}

exports.pieces = {
  hashRows(units) {
    exports.kept = hash(units);
  },
  addTotals(units) {
    let totals = 0;
    for (let i = 0; i < units * 1000; i++) totals = imul(totals ^ i, 0x01000193);
    exports.kept = totals;
  },
  sortRows(units) {
    const rows = Array.from({ length: units * 50 }, (_, i) => imul(i, 0x9e3779b9));
    exports.kept = rows.sort((a, b) => a - b);
  },
  parseRows(units) {
    exports.kept = JSON.parse(`[${'{"id":1,"name":"row"},'.repeat(units * 20)}0]`);
  },
  allocateRows(units) {
    const rows = [];
    for (let i = 0; i < units * 20; i++) rows.push({ id: i, values: [i, String(i), { i }] });
    exports.kept = rows;
  },
  deriveKey(units) {
    exports.kept = pbkdf2Sync('password', 'salt', units * 20, 32, 'sha256');
  },
};

const MIN_MILLIS = 20;
const REPEATS = 5;

function millisOf(piece, units) {
  const start = performance.now();
  piece(units);
  return performance.now() - start;
}

/** How many units of each take a millisecond on this machine, if nothing else runs. */
exports.unitsPerMilli = () =>
  Object.fromEntries(
    Object.entries(exports.pieces).map(([name, piece]) => {
      let units = 1;
      while (millisOf(piece, units) < MIN_MILLIS) units *= 2;
      const millis = Array.from({ length: REPEATS }, () => millisOf(piece, units));
      return [name, units / Math.min(...millis)];
    }),
  );
