// What is tested under each test runner: a report that blocks the event loop for as long as is
// asked, or does not.
const { setImmediate: nextIteration } = require('node:timers/promises');
const { running } = require('../../../support/thread-times.cjs');

const HASHES_BETWEEN_CLOCK_READS = 100_000;

function hashRow(millis) {
  const goesOn = running(millis);
  let hash = 0;
  while (goesOn()) {
    for (let i = 0; i < HASHES_BETWEEN_CLOCK_READS; i++) hash = Math.imul(hash ^ i, 0x01000193);
  }
  return hash;
}

/** Some rows at once. */
exports.renderAtOnce = (millis) => {
  hashRow(millis);
  return 'report';
};

/** As much, with the event loop turning in between. */
exports.renderInSteps = async (millis, steps) => {
  for (let step = 0; step < steps; step++) {
    hashRow(millis / steps);
    await nextIteration();
  }
  return 'report';
};
