/** What the package may use of the main thread in ten seconds. */
import { Allowed } from '../../src/sample/shared-memory.ts';
import { Budget } from '../../src/session/budget.ts';

function setUp(uptimeMillis = 60_000, cpuAtStart = 0) {
  const at = { time: 1_000_000, cpu: cpuAtStart, busy: Number.NaN };
  const budget = new Budget(
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
const allowed = ({ samples, hasNames }: Budget) => ({ samples, hasNames });

test('20 ms of an idle process: first samples are fewer, then there are no names, then no samples', () => {
  const { budget } = setUp();
  const after = [9.9, 0.2, 7.8, 0.2, 1.8, 0.2].map((millis) => {
    budget.spend(millis);
    return allowed(budget);
  });
  expect(after).toEqual([
    { samples: Allowed.all, hasNames: true },
    { samples: Allowed.few, hasNames: true },
    { samples: Allowed.few, hasNames: true },
    { samples: Allowed.few, hasNames: false },
    { samples: Allowed.few, hasNames: false },
    { samples: Allowed.none, hasNames: false },
  ]);
});

test('2 % of the CPU of the process, if that is more', () => {
  const { budget, pass } = setUp();
  for (let second = 0; second < 9; second++) pass(1000, 500);
  budget.spend(44);
  expect(budget.samples).toBe(Allowed.all); // of 90 ms
  budget.spend(36);
  expect(allowed(budget)).toEqual({ samples: Allowed.few, hasNames: true });
  budget.spend(2);
  expect(budget.hasNames).toBe(false);
});

test('what the thread waits in calls counts like CPU', () => {
  const { at, budget, pass } = setUp();
  at.busy = 0;
  pass(1000, 100);
  at.busy = 2000;
  budget.spend(19);
  expect(budget.samples).toBe(Allowed.all); // of 40 ms
});

test('what was spent ten seconds ago does not count, nor the CPU of that time', () => {
  const { budget, pass } = setUp();
  budget.spend(30);
  for (let second = 0; second < 9; second++) {
    pass(1000, second === 0 ? 900 : 0);
    expect(budget.hasNames).toBe(false);
  }
  pass(1000);
  expect(allowed(budget)).toEqual({ samples: Allowed.all, hasNames: true });
  budget.spend(21);
  expect(budget.hasNames).toBe(false);
});

test('an hour without anything: nothing is left of what was', () => {
  const { budget, pass } = setUp();
  budget.spend(30);
  pass(3_600_000);
  expect(budget.samples).toBe(Allowed.all);
});

test('all that a young process has used counts; an old one, from now on', () => {
  const spend = (uptimeMillis: number) => {
    const { budget } = setUp(uptimeMillis, 2000);
    budget.spend(25);
    return budget.hasNames;
  };
  expect(spend(3000)).toBe(true); // 40 ms
  expect(spend(11_000)).toBe(false); // 20 ms
});
