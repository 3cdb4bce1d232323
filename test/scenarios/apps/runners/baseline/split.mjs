// Unchanged code, again and again: its time is divided evenly between functions, so that each run
// may name another of them. And the same code with one more function that blocks.
import { setTimeout as delay } from 'node:timers/promises';
import { expectNoBlocks } from 'opentelemetry-instrumentation-event-loop/testing';
import threadTimes from '../../../../support/thread-times.cjs';

const { running } = threadTimes;
const [baseline, runs] = process.argv.slice(2);

let hash = 0;

function hashRow(millis) {
  for (const goesOn = running(millis); goesOn(); )
    for (let i = 0; i < 10_000; i++) hash = Math.imul(hash ^ i, 0x01000193);
}

function sortRows(millis) {
  for (const goesOn = running(millis); goesOn(); )
    for (let i = 0; i < 10_000; i++) hash = Math.imul(hash ^ i, 0x01000193);
}

function renderInTurns() {
  for (let i = 0; i < 6; i++) {
    hashRow(10);
    for (const goesOn = running(10); goesOn(); )
      for (let j = 0; j < 10_000; j++) hash = Math.imul(hash ^ j, 0x01000193);
  }
}

function renderAfterHashing() {
  hashRow(60);
  for (const goesOn = running(60); goesOn(); )
    for (let i = 0; i < 10_000; i++) hash = Math.imul(hash ^ i, 0x01000193);
}

function renderByHelpers() {
  hashRow(60);
  sortRows(60);
}

async function renderInCallbacks() {
  await delay(1);
  renderAfterHashing();
  await delay(1);
  renderByHelpers();
}

const renders = [renderInTurns, renderAfterHashing, renderByHelpers, renderInCallbacks];

async function isKnown(render, name, updateBaseline = false) {
  try {
    await expectNoBlocks(render, { baseline, name, thresholdMillis: 50, updateBaseline });
    return true;
  } catch (error) {
    if (error.name !== 'EventLoopBlockedError') throw error;
    return false;
  }
}

const failed = [];
for (const render of renders) {
  await isKnown(render, render.name, true);
  for (let run = 0; run < Number(runs); run++)
    if (!(await isKnown(render, render.name))) failed.push(render.name);
}

/** Functions that did not block when the baseline was written. */
function addTotals() {
  for (const goesOn = running(110); goesOn(); )
    for (let i = 0; i < 10_000; i++) hash = Math.imul(hash ^ i, 0x01000193);
}
const seeds = {
  before: (render) => () => {
    addTotals();
    return render();
  },
  after: (render) => async () => {
    await render();
    addTotals();
  },
  inItsOwnCallback: (render) => async () => {
    await render();
    await delay(1);
    addTotals();
  },
};
const missed = [];
for (const [seed, change] of Object.entries(seeds)) {
  for (const render of renders)
    if (await isKnown(change(render), render.name)) missed.push(`${seed} ${render.name}`);
}
console.log(JSON.stringify({ failed, missed }));
