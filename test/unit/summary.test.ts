import { PLAIN } from '../../src/console/block-line.ts';
import { Summary } from '../../src/console/summary.ts';
import type { EventLoopBlock } from '../../src/types.ts';

const block = (durationMillis: number, functionName?: string, line = 1): EventLoopBlock => ({
  startTimeMillis: 0,
  durationMillis,
  callbacks: 1,
  samples: 1,
  ...(functionName !== undefined && {
    code: { functionName, file: '/app/report.js', line, column: 1, stackTrace: '' },
  }),
});
const summaryOf = (...blocks: EventLoopBlock[]) => {
  const summary = new Summary();
  for (const b of blocks) summary.add(b);
  return summary.lines(10_000, '/app', PLAIN);
};

test('nothing has blocked', () => {
  expect(summaryOf()).toEqual(['event-loop-blocked: never, in 10.0 s']);
});

test('adds up by function, the heaviest first, wherever in it the lines differ', () => {
  expect(
    summaryOf(block(100, 'light', 7), block(1000, 'heavy', 3), block(500, 'heavy', 4), block(50)),
  ).toEqual([
    'event-loop-blocked: 4 blocks, 1.65 s of 10.0 s (16.5 %)',
    '  1.50 s in 2 blocks, longest 1.00 s: heavy (report.js:3:1)',
    '  100 ms in  1 block, longest 100 ms: light (report.js:7:1)',
    '   50 ms in  1 block, longest  50 ms: unknown code',
  ]);
});

test('shows ten functions', () => {
  const blocks = Array.from({ length: 30 }, (_, i) => block(100 + i, `f${i}`));
  expect(summaryOf(...blocks)).toHaveLength(11);
  expect(summaryOf(...blocks)[1]).toContain('f29');
});

test('a thousand functions have a row each, the others share one', () => {
  const blocks = Array.from({ length: 1500 }, (_, i) => block(100, `f${i}`));
  expect(summaryOf(...blocks)[1]).toBe(
    '   50.0 s in 500 blocks, longest 100 ms: other functions'.replace(/^ {3}/, '  '),
  );
});

test('more than all of the time cannot have been blocked', () => {
  expect(summaryOf(block(20_000, 'f'))[0]).toContain('(100.0 %)');
});
