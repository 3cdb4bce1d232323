import {
  createSharedMemory,
  MAX_STANDSTILLS,
  Mark,
  standstillWithin,
} from '../../src/capture/shared-memory.ts';
import { isStandstill } from '../../src/detect/standstill.ts';

let marks: Float64Array;
beforeEach(() => {
  marks = createSharedMemory().marks;
});

/** As the watchdog notes it. */
function note(from: number, until: number): void {
  const count = marks[Mark.standstills] as number;
  marks[Mark.firstStandstill + 2 * (count % MAX_STANDSTILLS)] = from;
  marks[Mark.firstStandstill + 2 * (count % MAX_STANDSTILLS) + 1] = until;
  marks[Mark.standstills] = count + 1;
}

test('without a watchdog thread nothing is ever suspended', () => {
  expect(standstillWithin(marks, 0, 1e6)).toBe(0);
});

test('standstills count as far as they are inside', () => {
  note(1000, 1500);
  note(2000, 2100);
  expect(standstillWithin(marks, 1200, 3000)).toBe(400);
  expect(standstillWithin(marks, 1200, 2050)).toBe(350);
  expect(standstillWithin(marks, 1600, 1900)).toBe(0);
});

test('one that is not noted yet counts: the watchdog should have woken up', () => {
  marks[Mark.wakeUp] = 1000;
  expect(standstillWithin(marks, 900, 1700)).toBe(700);
  expect(standstillWithin(marks, 900, 1009)).toBe(0); // it may well be a little late
});

test('one that is noted while the next wake-up is not set counts once', () => {
  marks[Mark.wakeUp] = 1000;
  note(1000, 1700);
  expect(standstillWithin(marks, 900, 1700)).toBe(700);
});

test('the ring forgets the oldest', () => {
  for (let i = 0; i < MAX_STANDSTILLS + 1; i++) note(i * 100, i * 100 + 50);
  expect(standstillWithin(marks, 0, 100)).toBe(0);
  expect(standstillWithin(marks, 100, 1e6)).toBe(50 * MAX_STANDSTILLS);
});

describe('a block', () => {
  const block = (cpu: number) => ({ start: 1000, end: 1800, cpu });

  test('that was a stopped process is none', () => {
    note(1050, 1800);
    expect(isStandstill(block(40), marks, 100)).toBe(true);
  });

  test('that is long enough without the stop in it is one', () => {
    note(1050, 1600);
    expect(isStandstill(block(240), marks, 100)).toBe(false);
  });

  test('whose thread waited while the watchdog ran on is one', () => {
    expect(isStandstill(block(1), marks, 100)).toBe(false);
  });

  test('that used its CPU all the time is one, however late the watchdog was', () => {
    note(1050, 1800);
    expect(isStandstill(block(790), marks, 100)).toBe(false);
  });

  test('whose thread waited for a CPU while the watchdog ran on is none', () => {
    expect(isStandstill(block(40), marks, 100, 730)).toBe(true);
    expect(isStandstill(block(40), undefined, 100, 730)).toBe(true);
  });

  test('that is long enough without the wait for a CPU is one', () => {
    expect(isStandstill(block(150), marks, 100, 650)).toBe(false);
  });
});
