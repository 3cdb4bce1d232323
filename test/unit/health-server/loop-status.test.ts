import { type LoopReading, loopStatus } from '../../../src/threads/health-server/loop-status.ts';

const LIMITS = { thresholdMillis: 100, failAfterMillis: 30_000, maxBlockedMillis: 300_000 };
const DUE = 1000;

/** `age` milliseconds after the beat was due. The thread ran all the time if nothing is said. */
const at = (age: number, reading: Partial<LoopReading> = {}) =>
  loopStatus(
    {
      now: DUE + age,
      due: DUE,
      ran: age,
      waitedForCpu: 0,
      stopped: 0,
      isInspected: false,
      ...reading,
    },
    LIMITS,
  );

describe('time without a CPU does not count', () => {
  test.each([
    ['starved', { ran: 10_000, waitedForCpu: 50_000 }, 'blocked', 10_000],
    ['starved for nearly all of it', { ran: 50, waitedForCpu: 59_950 }, 'ok', 0],
    ['stopped', { ran: 10, stopped: 59_990 }, 'ok', 0],
    ['stopped in a block', { ran: 20_000, stopped: 40_000 }, 'blocked', 20_000],
    ['starved and stopped', { ran: 500, waitedForCpu: 20_000, stopped: 39_000 }, 'blocked', 1000],
    // The watchdog thread was late for another reason than a stop.
    ['it ran, whatever the watchdog has seen', { ran: 60_000, stopped: 59_000 }, 'stuck', 60_000],
    ['not known, and seen by the watchdog', { waitedForCpu: Number.NaN, stopped: 59_990 }, 'ok', 0],
  ])('%s', (_, reading, name, blockedMillis) => {
    expect(at(60_000, reading)).toMatchObject({ name, blockedMillis });
  });
});

describe('the limit of the wall clock', () => {
  test('a pause in a debugger is none', () => {
    expect(at(400_000, { ran: 100, isInspected: true }).name).toBe('ok');
  });
});

describe('with a debugger', () => {
  test('a thread that runs is blocked, and a loop that turns is not paused', () => {
    expect(at(60_000, { ran: 6000, isInspected: true }).name).toBe('stuck');
    expect(at(10, { ran: 0, isInspected: true }).name).toBe('ok');
  });
});
