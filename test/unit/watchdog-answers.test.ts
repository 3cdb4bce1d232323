/** What the watched thread answers if a stack sample is repeated. */
import { channel } from 'node:diagnostics_channel';
import { performance } from 'node:perf_hooks';
import { LATE_MILLIS } from '../../src/name/weights.ts';
import { BARE, TAKEN } from '../../src/sample/protocol.ts';
import { Request, SampleFor, SharedMemory } from '../../src/sample/shared-memory.ts';
import { Watchdog, type WatchdogEvents } from '../../src/sample/watchdog.ts';
import type { ThreadEvents } from '../../src/sample/watchdog-thread.ts';

let mockShowsCode = false;

jest.mock('../../src/sample/stack.ts', () => ({
  takeStack: () => ({ showsCode: () => mockShowsCode }),
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
  const options = { unfinishedAfterMillis: 0, profile: undefined } as never;
  watchdog = new Watchdog(options, events, { log() {}, faults: {} } as never, Thread, memory);
  watchdog.start();
  ({ answer } = channel(channelName) as unknown as { answer: () => unknown });
});
afterEach(() => watchdog.stop());

test.each([
  ['the first one', false, 0, false, BARE, 1],
  ['one that shows no code', true, 0, false, BARE, 0],
  ['one that shows no code, since native code ran until now', true, LATE_MILLIS, false, BARE, 1],
  ['one that shows code', true, 0, true, TAKEN, 1],
])('%s', (_what, isRepeat, waited, showsCode, expected, samples) => {
  mockShowsCode = showsCode;
  const { request } = memory;
  request.values[Request.purpose] = SampleFor.block;
  request.values[Request.isRepeat] = isRepeat ? 1 : 0;
  request.set(Request.requestedAt, performance.now() - waited);
  expect(answer()).toBe(expected);
  expect(captured).toHaveBeenCalledTimes(samples);
});
