/** The function. */
const { setImmediate: nextIteration } = require('node:timers/promises');
const { running } = require('./thread-times.cjs');

const BLOCK_MILLIS = 200;
const PIECE_MILLIS = 15;
const PIECES = 60;

function hashAll(millis) {
  const isRunning = running(millis);
  while (isRunning());
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
