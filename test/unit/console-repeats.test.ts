/** Blocks of one place past ten in a minute have no line of their own. */
import { Repeats } from '../../src/outputs/console/repeats.ts';
import type { EventLoopBlock } from '../../src/types.ts';

const blockIn = (functionName: string, durationMillis = 100): EventLoopBlock => ({
  startTimeMillis: 0,
  durationMillis,
  callbacks: 1,
  samples: 1,
  code: { functionName, file: '/app/app.js', line: 1, column: 1, stackTrace: '' },
});
const MINUTE = 60_000;

test('ten of a place are shown in a minute, the others counted', () => {
  const repeats = new Repeats();
  expect(repeats.take(MINUTE)).toEqual([]);
  const shown = Array.from({ length: 13 }, () => repeats.isShown(blockIn('load')));
  expect(shown).toEqual([...Array(10).fill(true), false, false, false]);
  expect(repeats.isShown(blockIn('other'))).toBe(true);
  expect(repeats.take(2 * MINUTE - 1)).toEqual([]);
  expect(repeats.take(2 * MINUTE)).toMatchObject([{ blocks: 3, totalMillis: 300 }]);
  expect(repeats.take()).toEqual([]);
  expect(repeats.isShown(blockIn('load'))).toBe(true);
});

test('before a summary they are told at once, and the minute goes on', () => {
  const repeats = new Repeats();
  repeats.take(MINUTE);
  for (let i = 0; i < 11; i++) repeats.isShown(blockIn('load'));
  expect(repeats.take()).toHaveLength(1);
  expect(repeats.isShown(blockIn('load', 7))).toBe(false);
  expect(repeats.take()).toMatchObject([{ blocks: 1, totalMillis: 7 }]);
});

test('of more places than are counted, each block is shown', () => {
  const repeats = new Repeats();
  for (let i = 0; i < 1000; i++) repeats.isShown(blockIn(`f${i}`));
  const shown = Array.from({ length: 20 }, () => repeats.isShown(blockIn('late')));
  expect(shown).not.toContain(false);
});
