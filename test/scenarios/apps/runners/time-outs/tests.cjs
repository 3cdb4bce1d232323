// What is tested under each test runner: blocks that are longer than its time-out, each before a
// healthy test. The guard is passed in: jest loads it as CommonJS, the others as an ES module.
const { setTimeout: sleep } = require('node:timers/promises');
const { renderAtOnce } = require('../report.cjs');

const SHORT_MILLIS = 500;
/** The default of jest and vitest. */
const LONG_MILLIS = 5000;
const BLOCK_MILLIS = 700;

/** On a busy machine, too, it blocks for little longer than that. */
function renderPastTimeOut() {
  const end = performance.now() + LONG_MILLIS + BLOCK_MILLIS;
  while (performance.now() < end) renderAtOnce(BLOCK_MILLIS);
}

exports.tests = ({ expectNoBlocks, recordBlocks }) => [
  ['blocks at once', SHORT_MILLIS, () => expectNoBlocks(() => renderAtOnce(BLOCK_MILLIS))],
  ['healthy 1', LONG_MILLIS, () => expectNoBlocks(() => 1)],
  [
    'blocks in a timer, and goes on',
    LONG_MILLIS,
    () =>
      expectNoBlocks(async () => {
        await sleep(10);
        renderPastTimeOut();
        await sleep(200);
      }),
  ],
  ['healthy 2', LONG_MILLIS, () => expectNoBlocks(() => 2)],
  [
    'blocks, and hangs',
    SHORT_MILLIS,
    () =>
      expectNoBlocks(() => {
        renderAtOnce(BLOCK_MILLIS);
        return new Promise(() => {});
      }),
  ],
  ['healthy 3', LONG_MILLIS, () => expectNoBlocks(() => 3)],
  ['records', SHORT_MILLIS, () => recordBlocks(() => renderAtOnce(BLOCK_MILLIS))],
  ['healthy 4', LONG_MILLIS, () => recordBlocks(() => 4)],
];
