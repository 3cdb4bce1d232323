import type { CodePosition } from '../../src/block.ts';
import { findOwnCode, markEndOfOwnCode } from '../../src/core/sample/own-code.ts';

/** The positions of the bookmarks, first and last. */
const bookmarksAt = (first: CodePosition | undefined, last: CodePosition | undefined) => {
  const answers = [first, last];
  return findOwnCode(() => answers.shift());
};
const at = (line: number, column: number, file = '/app/bundle.js'): CodePosition => ({
  file,
  line,
  column,
});

describe('from the first bookmark to the last', () => {
  beforeAll(() => markEndOfOwnCode((whereAmI) => whereAmI()));

  test.each([
    [at(9, 99), false],
    [at(10, 4), false],
    [at(10, 5), true],
    [at(11, 1), true],
    [at(20, 30), true],
    [at(20, 31), false],
    [at(21, 1), false],
    [at(15, 1, '/app/other.js'), false],
    [{ file: undefined, line: undefined, column: undefined }, false],
  ])('%j: %s', (place, isOwn) => {
    expect(bookmarksAt(at(10, 5), at(20, 30))(place)).toBe(isOwn);
  });
});
