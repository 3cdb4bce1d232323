/** What the watched thread answers on a stack that shows no code, and if a sample is repeated. */
import { performance } from 'node:perf_hooks';
import { runInThisContext } from 'node:vm';
import { LATE_MILLIS } from '../../src/core/explain/name/weights.ts';
import { expressionFor } from '../../src/core/sample/answers.ts';
import { Capturer } from '../../src/core/sample/capturer.ts';
import { BARE, TAKEN } from '../../src/core/sample/protocol.ts';
import { Request, SampleFor, SharedMemory } from '../../src/core/sample/shared-memory.ts';
import { Watchdog, type WatchdogEvents } from '../../src/core/sample/watchdog.ts';
import type { ThreadEvents } from '../../src/core/sample/watchdog-thread.ts';
import { FakeClock } from './support/fake-clock.ts';

/** However long this machine lets the answer wait, that is none. */
const NO_WAIT = -60_000;

let mockShowsCode = false;

jest.mock('../../src/core/sample/stack.ts', () => ({
  takeStack: () => ({ isEmpty: () => true, showsCode: () => mockShowsCode, frames: () => [] }),
}));

const memory = new SharedMemory();
const captured = jest.fn();
let watchdog: Watchdog;
let answer: () => unknown;
beforeEach(() => {
  captured.mockClear();
  let channelName = '';
  class Thread {
    readonly isWatching = true;
    constructor(events: ThreadEvents) {
      channelName = events.channelName;
    }
    keepUp() {}
    wake() {}
    terminate() {}
  }
  const events = {
    watching() {},
    lost() {},
    capture() {
      captured();
      return { showsCode: () => mockShowsCode };
    },
  } as unknown as WatchdogEvents;
  const options = { unfinishedAfterMillis: 0 } as never;
  watchdog = new Watchdog(options, events, { log() {}, faults: {} } as never, Thread, memory);
  watchdog.start();
  answer = () => runInThisContext(expressionFor(channelName));
});
afterEach(() => watchdog.stop());

test.each([
  ['the first one', false, NO_WAIT, false, BARE, 1],
  ['one that shows no code', true, NO_WAIT, false, BARE, 0],
  ['one that shows no code, since native code ran until now', true, LATE_MILLIS, false, BARE, 1],
  ['one that shows code', true, NO_WAIT, true, TAKEN, 1],
])('%s', (_what, isRepeat, waited, showsCode, expected, samples) => {
  mockShowsCode = showsCode;
  const { request } = memory;
  request.values[Request.purpose] = SampleFor.block;
  request.values[Request.isRepeat] = isRepeat ? 1 : 0;
  request.set(Request.requestedAt, performance.now() - waited);
  expect(answer()).toBe(expected);
  expect(captured).toHaveBeenCalledTimes(samples);
});

test.each([
  ['an answer at once', 0, false, 0],
  ['native code that has just ended', LATE_MILLIS, false, 1],
  ['the same, and it is not known whether the loop waited', LATE_MILLIS, undefined, 1],
  ['a wait that had no CPU at its end', LATE_MILLIS, true, 0],
])('an empty stack, after a wait: %s', (_what, waited, wasWaiting, samples) => {
  const clock = new FakeClock();
  clock.run(150);
  const add = jest.fn();
  const ledger = {
    iterations: { busyPeriodStart: 1000, mayWait: () => true },
    isLatest: () => true,
    wasWaitingAt: () => wasWaiting,
    add,
  };
  const takeResource = () => ({ asyncId: 0, type: () => undefined, drain: () => undefined });
  const capturer = new Capturer(clock, ledger, takeResource, () => () => undefined);
  expect(capturer.capture(1000, clock.now() - waited) === undefined).toBe(samples === 0);
  expect(add).toHaveBeenCalledTimes(samples);
});
