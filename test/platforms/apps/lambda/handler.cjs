/** The function. */
const { setImmediate: nextIteration } = require('node:timers/promises');
const { running } = require('./thread-times.cjs');

const BLOCK_MILLIS = 200;
const PIECE_MILLIS = 15;
const PIECES = 60;

function hashAll(millis) {
  const isRunning = running(millis);
  let hash = 0;
  // Nearly all of its time is its own, not that of the clock.
  while (isRunning()) for (let i = 0; i < 200_000; i++) hash = (hash * 31 + i) | 0;
  return hash;
}

const WORK = {
  quick() {},
  block() {
    hashAll(BLOCK_MILLIS);
  },
  async pieces() {
    console.log('working');
    for (let i = 0; i < PIECES; i++) {
      hashAll(PIECE_MILLIS);
      await nextIteration();
    }
  },
};

exports.handler = async ({ work }) => {
  await WORK[work]();
  return work;
};
