/** What one kind of work may use of the main thread in ten seconds. */
import { Budget } from '../../src/core/session/budget.ts';

const MAX = { share: 0.02, millis: 20 };

function setUp(uptimeMillis = 60_000, cpuAtStart = 0) {
  const at = { time: 1_000_000, cpu: cpuAtStart, busy: Number.NaN };
  const budget = new Budget(
    MAX,
    () => ({ ...at }),
    () => at.time,
    uptimeMillis,
  );
  return {
    at,
    budget,
    /** The process goes on for so long, and uses so much CPU. */
    pass(millis: number, cpu = 0) {
      at.time += millis;
      at.cpu += cpu;
      budget.spend(0);
    },
  };
}

test('milliseconds of an idle process', () => {
  const { budget } = setUp();
  expect(budget.used).toBe(0);
  budget.spend(5);
  budget.spend(10);
  expect(budget.used).toBe(0.75);
});

test('a share of the CPU of the process, if that is more', () => {
  const { budget, pass } = setUp();
  for (let second = 0; second < 9; second++) pass(1000, 500);
  budget.spend(45); // of 90
  expect(budget.used).toBe(0.5);
});

test('what the thread waits in calls counts like CPU', () => {
  const { at, budget, pass } = setUp();
  at.busy = 0;
  pass(1000, 100);
  at.busy = 2000;
  budget.spend(20); // of 40
  expect(budget.used).toBe(0.5);
});

test('what was spent ten seconds ago does not count, nor the CPU of that time', () => {
  const { budget, pass } = setUp();
  budget.spend(30);
  for (let second = 0; second < 9; second++) {
    pass(1000, second === 0 ? 900 : 0);
    expect(budget.used).toBe(1.5);
  }
  pass(1000);
  expect(budget.used).toBe(0);
  budget.spend(20);
  expect(budget.used).toBe(1);
});

test('an hour without anything: nothing is left of what was', () => {
  const { budget, pass } = setUp();
  budget.spend(30);
  pass(3_600_000);
  expect(budget.used).toBe(0);
});

test('all that a young process has used counts; an old one, from now on', () => {
  const used = (uptimeMillis: number) => {
    const { budget } = setUp(uptimeMillis, 2000);
    budget.spend(20);
    return budget.used;
  };
  expect(used(3000)).toBe(0.5); // of 40 ms
  expect(used(11_000)).toBe(1); // of 20 ms
});
