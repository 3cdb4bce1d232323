/**
 * What the tools have to report: the labelled blockers of the scenarios, the same work in other
 * places, and what is no block at all.
 */
const { AsyncResource } = require('node:async_hooks');
const { EventEmitter } = require('node:events');
const fs = require('node:fs');
const { BLOCK_MILLIS, blockers } = require('../../tools/labelled-blockers.cjs');

const { loop } = blockers;
const IMMEDIATES = 10;

/**
 * The loop of `hashMillions`, in a callback that is not the handler's. `block` blocks and responds.
 */
const inPlace = (place) => ({ ...loop, place });

const places = {
  'in a timer': inPlace((block) => setTimeout(block, 5)),
  'in an immediate': inPlace((block) => setImmediate(block)),
  'in a nextTick': inPlace((block) => process.nextTick(block)),
  'in a microtask': inPlace((block) => queueMicrotask(block)),
  'in a callback of fs': inPlace((block) => fs.readFile(__filename, block)),
  'after an await of fs': inPlace(async (block) => {
    await fs.promises.readFile(__filename);
    block();
  }),
  'in an AsyncResource': inPlace((block) => {
    const resource = new AsyncResource('Job');
    setTimeout(() => resource.runInAsyncScope(block), 5);
  }),
  'in nested AsyncResources': inPlace((block) => {
    const [outer, inner] = [new AsyncResource('Outer'), new AsyncResource('Inner')];
    setTimeout(() => outer.runInAsyncScope(() => inner.runInAsyncScope(block)), 5);
  }),
  'in a listener': inPlace((block) => {
    const emitter = new EventEmitter().once('job', block);
    setTimeout(() => emitter.emit('job'), 5);
  }),
  // None of them is a block, all of them together are.
  'in immediates of one turn': inPlace((_block, startTimer, answer) => {
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

/** Nothing here blocks the event loop for long, however long it takes. */
const NOT_BLOCKING = {
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

module.exports = { BLOCKERS: { ...blockers, ...places }, NOT_BLOCKING };
