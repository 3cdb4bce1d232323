/** What the tools are asked about: the labelled blockers of the scenarios, the same work in other places, and what is no block at all. */
const { AsyncResource } = require('node:async_hooks');
const { EventEmitter } = require('node:events');
const fs = require('node:fs');
const { BLOCK_MILLIS, blockers } = require('../../tools/labelled-blockers.cjs');

const { loop } = blockers;
const IMMEDIATES = 10;

/** The loop of `hashMillions`, in a callback that is not the handler's. `hold` blocks and answers. */
const inPlace = (place) => ({ ...loop, place });

const places = {
  'in a timer': inPlace((hold) => setTimeout(hold, 5)),
  'in an immediate': inPlace((hold) => setImmediate(hold)),
  'in a nextTick': inPlace((hold) => process.nextTick(hold)),
  'in a microtask': inPlace((hold) => queueMicrotask(hold)),
  'in a callback of fs': inPlace((hold) => fs.readFile(__filename, hold)),
  'after an await of fs': inPlace(async (hold) => {
    await fs.promises.readFile(__filename);
    hold();
  }),
  'in an AsyncResource': inPlace((hold) => {
    const resource = new AsyncResource('Job');
    setTimeout(() => resource.runInAsyncScope(hold), 5);
  }),
  'in nested AsyncResources': inPlace((hold) => {
    const [outer, inner] = [new AsyncResource('Outer'), new AsyncResource('Inner')];
    setTimeout(() => outer.runInAsyncScope(() => inner.runInAsyncScope(hold)), 5);
  }),
  'in a listener': inPlace((hold) => {
    const emitter = new EventEmitter().once('job', hold);
    setTimeout(() => emitter.emit('job'), 5);
  }),
  // None of them is a block, all of them together are.
  'in immediates of one turn': inPlace((_hold, startTimer, answer) => {
    let left = IMMEDIATES;
    let timer;
    for (let i = 0; i < IMMEDIATES; i++) {
      setImmediate(() => {
        timer ??= startTimer();
        loop.run(performance.now() + BLOCK_MILLIS / IMMEDIATES);
        if (--left === 0) answer(timer);
      });
    }
  }),
};

const STEP_MILLIS = 5;
const work = (millis) => loop.run(performance.now() + millis);

/** Nothing here holds the loop for long, however long it takes. */
const QUIET = {
  'waits for a timer': ({ wait }) => wait(2 * BLOCK_MILLIS),
  'waits for a timer, again and again': async ({ wait }) => {
    for (let i = 0; i < 10; i++) await wait(20);
  },
  'computes, and yields': async ({ nextIteration }) => {
    for (let i = 0; i < 40; i++) {
      work(STEP_MILLIS);
      await nextIteration();
    }
  },
  'reads files': async () => {
    for (let i = 0; i < 20; i++) await fs.promises.readFile(__filename);
  },
};

module.exports = { BLOCKERS: { ...blockers, ...places }, QUIET };
