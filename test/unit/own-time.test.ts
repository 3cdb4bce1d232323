/** The CPU time that the package itself uses. */
import { Allowed } from '../../src/core/sample/shared-memory.ts';
import { OwnTime } from '../../src/core/session/own-time.ts';
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
  let skipped = 0;
  const allowed: number[] = [];
  const sampler = {
    allow: (samples: number) => void allowed.push(samples),
    takeSkipped: () => skipped,
  };
  const own = new OwnTime(schedstat, () => ({ cpu: 0, busy: 0 }), sampler, intervalMillis);
  return {
    own,
    allowed,
    counted,
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

test('in ten seconds, 10 ms of stack samples; then fewer, up to 20 ms; then none', () => {
  const { own, allowed } = setUp([]);
  // 2 ms are counted of each, and 0.3
  for (let i = 0; i < 10; i++) own.sampled(performance.now() - LONG_MILLIS);
  const { all, few, none } = Allowed;
  expect(allowed).toEqual([all, all, all, all, few, few, few, few, none, none]);
});

test('reports are no reason for fewer samples, or fewer names', () => {
  const { own, allowed } = setUp([]);
  own.run(() => work());
  own.sampled(performance.now());
  expect(allowed).toEqual([Allowed.all]);
  expect(own.mayName()).toBe(true);
});

test('12 ms of work on names, and there are none', () => {
  const { own, counted, skip, record } = setUp([]);
  const before = { ...ownTotals };
  expect(own.name(() => 'name')).toBe('name');
  expect(own.mayName()).toBe(true);
  const step = () =>
    own.name(() => {
      work();
      throw new Error('on purpose');
    });
  // Of a step 2 ms count.
  for (let i = 0; i < 4; i++) expect(step).toThrow('on purpose');
  expect(own.mayName()).toBe(true);
  for (let i = 0; i < 2; i++) expect(step).toThrow('on purpose');
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
