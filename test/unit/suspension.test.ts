import { isSuspension } from '../../src/detect/exclude/exclusions.ts';
import { SharedMemory, Sleeping } from '../../src/sample/shared-memory.ts';
import {
  maybeStoppedWithin,
  noteSuspension,
  stoppedSoFar,
  stoppedWithin,
  suspendedWithin,
} from '../../src/sample/suspensions.ts';
import { announceSleep } from '../../src/sample/thread-sleep.ts';
import { suspendWatchdog } from './support/note-suspension.ts';

let memory: SharedMemory;
beforeEach(() => {
  memory = new SharedMemory();
});

const note = (from: number, until: number) => suspendWatchdog(memory, from, until);

test('a watchdog thread that is started again keeps what the one before has noted', () => {
  note(1000, 1500);
  announceSleep(new SharedMemory(memory.buffer), 2000);
  expect(suspendedWithin(memory, 900, 1600)).toBe(500);
  expect(stoppedSoFar(memory, 1900)).toBe(500);
});

describe('a block', () => {
  const block = (cpu: number) => ({ start: 1000, end: 1800, cpu });

  const waited = (atLeast: number, atMost = atLeast, ranAtMost = 800) => ({
    atLeast,
    atMost,
    ranAtMost,
  });

  test('whose thread waited in I/O, while the watchdog had no CPU, is one', () => {
    suspendWatchdog(memory, 1050, 1800, 750);
    expect(isSuspension(block(1), memory, 100, waited(0, 3))).toBe(false);
    expect(isSuspension(block(1), memory, 100)).toBe(true); // outside Linux that is not known
  });

  test.each([
    [14, 40, true],
    [60, 0, false],
    [14, 110, false],
  ])('that starved, ran for %i ms and slept for %i, is none: %s', (cpu, slept, isNone) => {
    expect(isSuspension(block(cpu), undefined, 50, waited(800 - cpu - slept))).toBe(isNone);
  });

  test('that was a stop and a wait for a CPU is none', () => {
    suspendWatchdog(memory, 1050, 1350, 0);
    expect(isSuspension(block(40), memory, 100, waited(450))).toBe(true);
  });
});

describe('a stop of the process', () => {
  test('is not known before the thread has noted it', () => {
    memory.sleep.set(Sleeping.wakeUp, 1000);
    expect(stoppedWithin(memory, 900, 1700)).toBe(0);
    expect(maybeStoppedWithin(memory, 900, 1700)).toBe(700);
    noteSuspension(memory, 1000, 1702, 2);
    expect(maybeStoppedWithin(memory, 900, 1700)).toBe(698);
    expect(stoppedWithin(memory, 900, 1700)).toBe(698);
    memory.sleep.set(Sleeping.wakeUp, 1750);
    expect(maybeStoppedWithin(memory, 900, 1700)).toBe(698);
  });
});
