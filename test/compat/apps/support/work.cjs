/**
 * What every app does when it is asked to: blocks the event loop, once in a named function and once
 * in a chain of awaits.
 */
const { running } = require('./thread-times.cjs');
const { startTruth, truthOf } = require('./truth.cjs');

const BLOCK_MILLIS = 250;

let hash = 0;

function hashOrders(millis) {
  const goesOn = running(millis);
  while (goesOn()) {
    for (let order = 0; order < 20_000; order++) hash = Math.imul(hash ^ order, 0x01000193);
  }
  return hash;
}

/**
 * 0.3 ms: what Node.js and the SDK do for each `await` is the caller's time, and a block of 250 ms
 * has five stack samples. With steps of 30 µs, up to a twentieth of the samples was in there.
 */
async function hashStep() {
  for (let order = 0; order < 200_000; order++) hash = Math.imul(hash ^ order, 0x01000193);
}

async function hashInSteps(millis) {
  const goesOn = running(millis);
  while (goesOn()) await hashStep();
  return hash;
}

/** So that what comes later is not slow because it is the first. */
function warm() {
  return { hash: hashOrders(1) };
}

/** Truth `handler`: one synchronous run, in `hashOrders`. */
function block() {
  return { hash: truthOf('handler', () => hashOrders(BLOCK_MILLIS)) };
}

/**
 * Truth `steps`: promise reactions that never go back to the loop, most of the time in `hashStep`.
 */
async function blockInSteps() {
  await null; // or its first step would be the callback's own time
  const end = startTruth('steps');
  await hashInSteps(BLOCK_MILLIS);
  end();
  return { hash };
}

module.exports = { block, blockInSteps, warm };
