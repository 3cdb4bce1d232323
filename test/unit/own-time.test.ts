/** The CPU time that the package itself uses. */
import { Budget } from '../../src/session/budget.ts';
import { OwnTime } from '../../src/session/own-time.ts';
import { ownTotals } from '../../src/support/own-totals.ts';

const WORK_MILLIS = 20;

function setUp(delays: readonly number[], intervalMillis?: number) {
  const schedstat = {
    waited: 0,
    read() {
      this.waited += waiting.shift() ?? 0;
      return true;
    },
  };
  const waiting = [...delays];
  const counted: [thread: string, millis: number][] = [];
  const sink = {
    own: (millis: number, thread: string) => void counted.push([thread, Math.round(millis)]),
    skipped: (count: number, step: string) => void counted.push([step, count]),
  };
  const spent: number[] = [];
  const budget = new Budget(() => ({ cpu: 0, busy: 0 }));
  jest.spyOn(budget, 'spend').mockImplementation((millis) => void spent.push(Math.round(millis)));
  let skipped = 0;
  const takeSkipped = () => skipped;
  const own = new OwnTime(schedstat, budget, takeSkipped, () => {}, intervalMillis);
  return {
    own,
    counted,
    spent,
    budget,
    skip: (samples: number) => {
      skipped = samples;
    },
    record: () => own.record(sink),
  };
}

function work(millis = WORK_MILLIS): void {
  for (const until = performance.now() + millis; performance.now() < until; );
}

/** Between the least that it took and what it may have taken on a busy machine. */
const between = (from: number, to: number) => ({
  asymmetricMatch: (value: unknown) => typeof value === 'number' && value >= from && value <= to,
});
const LONG_MILLIS = 10_000;

test('work counts once, also if it is nested, and if it throws', () => {
  const { own, counted, record } = setUp([]);
  const start = performance.now();
  own.run(() => own.run(() => work()));
  expect(() =>
    own.run(() => {
      work();
      throw new Error('on purpose');
    }),
  ).toThrow('on purpose');
  const took = performance.now() - start;
  record();
  expect(counted).toEqual([['main', between(2 * WORK_MILLIS - 1, Math.ceil(took))]]);
});

test('time without a CPU does not', () => {
  const { own, counted, record } = setUp([0, LONG_MILLIS]);
  own.run(() => work());
  record();
  expect(counted).toEqual([]);
});

test('a stack sample counts with what the inspector takes around it', () => {
  const { own, counted, record } = setUp([]);
  for (let i = 0; i < 100; i++) own.sampled(performance.now());
  record();
  expect(counted).toEqual([['main', between(30, LONG_MILLIS)]]);
});

test('threads count by what they have run since, and another one in the place of one from its start', () => {
  const { own, counted, record } = setUp([], 0);
  let ran = 100;
  own.addThread(() => ran);
  own.addThread(() => Number.NaN);
  record();
  ran = 130;
  record();
  ran = 7;
  record();
  expect(counted.map(([thread, millis]) => `${thread} ${millis}`)).toEqual([
    'watchdog 100',
    'watchdog 30',
    'watchdog 7',
  ]);
});

test('it is recorded once a second', () => {
  const { own, counted, record } = setUp([]);
  own.sampled(performance.now() - WORK_MILLIS);
  record();
  own.sampled(performance.now() - WORK_MILLIS);
  record();
  expect(counted).toHaveLength(1);
});

test('what takes long, as a hook may, is spent for 5 ms only', () => {
  const { own, spent } = setUp([]);
  own.run(() => work());
  expect(spent).toEqual([5]);
});

test('what was left out counts', () => {
  const { own, counted, budget, skip, record } = setUp([]);
  const before = { ...ownTotals };
  const hasNames = jest.spyOn(budget, 'hasNames', 'get').mockReturnValue(true);
  expect(own.mayName()).toBe(true);
  hasNames.mockReturnValue(false);
  expect([own.mayName(), own.mayName()]).toEqual([false, false]);
  skip(3);
  record();
  expect(counted).toEqual([
    ['name', 2],
    ['sample', 3],
  ]);
  expect(ownTotals.skippedNames - before.skippedNames).toBe(2);
  expect(ownTotals.skippedSamples - before.skippedSamples).toBe(3);
});
