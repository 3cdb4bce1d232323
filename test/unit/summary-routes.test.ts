import { PLAIN } from '../../src/core/emit/block-line.ts';
import { summaryLines } from '../../src/outputs/console/summary-lines.ts';
import { Summary } from '../../src/outputs/summary/summary.ts';

const block = (durationMillis: number) => ({
  startTimeMillis: 1000,
  durationMillis,
  callbacks: 1,
  samples: 0,
});

const linesOf = (summary: Summary) =>
  summaryLines(summary.read({ startedAt: 0, now: 10_000 }), '', PLAIN, 100);

test('the five routes that blocked longest, if there are several', () => {
  const summary = new Summary();
  for (let i = 1; i <= 7; i++) summary.add(block(100 * i), undefined, `GET /${i}`);
  summary.add(block(900), undefined, 'GET /1');
  summary.add(block(100));
  const lines = linesOf(summary);
  const at = lines.indexOf('routes that blocked most:');
  expect(lines.slice(at + 1)).toEqual([
    '  GET /1: 2 blocks, 1.00 s',
    '  GET /7: 1 block, 700 ms',
    '  GET /6: 1 block, 600 ms',
    '  GET /5: 1 block, 500 ms',
    '  GET /4: 1 block, 400 ms',
  ]);
});

test('one route is that of the lines above', () => {
  const summary = new Summary();
  summary.add(block(100), undefined, 'GET /1');
  expect(linesOf(summary).join()).not.toContain('GET /1');
});
