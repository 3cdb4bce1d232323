/**
 * What the tools are asked about, in groups: the labelled blockers of the scenarios, the same work
 * in other places, an application with its packages, native calls in the last expression; and what
 * is no block at all.
 */
const { AsyncResource } = require('node:async_hooks');
const { EventEmitter } = require('node:events');
const fs = require('node:fs');
const labelled = require('../../tools/labelled-blockers.cjs');
const application = require('./application.cjs');

const { BLOCK_MILLIS, blockers, nativeCalls } = labelled;
const BLOCKERS_FILE = require.resolve('../../tools/labelled-blockers.cjs');

const { loop } = blockers;
const IMMEDIATES = 10;

/**
 * The loop of `hashMillions`, in a callback that is not the handler's. `hold` blocks and answers.
 */
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

const mapValues = (object, map) =>
  Object.fromEntries(Object.entries(object).map(([label, each]) => [label, map(each, label)]));

/** Of the scenarios: they have their inputs from the start, see `calibrate`. */
function ofScenarios(blocker) {
  const { blockingFunction } = blocker;
  return {
    ...blocker,
    label: {
      names: [blockingFunction.name],
      file: BLOCKERS_FILE,
      lines: linesIn(BLOCKERS_FILE, blockingFunction),
    },
    prepare: () => labelled.calibrate(blocker),
    input: labelled.argumentOf,
  };
}

function linesIn(file, blockingFunction) {
  if (typeof blockingFunction !== 'function') return undefined;
  return application.linesOf(blockingFunction, fs.readFileSync(file, 'utf8'));
}

function ofApplication(blocker) {
  const { place: label, ...others } = blocker;
  return { ...others, label, prepare: () => application.calibrate(blocker, BLOCK_MILLIS) };
}

const ofNative = (blocker, name) => ({
  ...ofScenarios(blocker),
  waits: name.startsWith('child_process.'),
});

/** Each blocker has `label`: the place that has to be named, and what else has to be told. */
const GROUPS = {
  'built-ins and language': mapValues(blockers, ofScenarios),
  places: mapValues(places, ofScenarios),
  application: mapValues(application.load(), ofApplication),
  'native calls in the last expression': mapValues(nativeCalls, ofNative),
};

/** By a name that no two groups share. */
const BLOCKERS = {};
for (const [group, members] of Object.entries(GROUPS)) {
  for (const [label, blocker] of Object.entries(members)) {
    const name = group.startsWith('native') ? `native: ${label}` : label;
    if (Object.hasOwn(BLOCKERS, name)) throw new Error(`two blockers are called ${name}`);
    BLOCKERS[name] = { ...blocker, group };
  }
}

module.exports = { BLOCKERS, NOT_BLOCKING };
