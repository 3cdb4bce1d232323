import { beginOf, distinctNamesOf } from '../../../src/core/explain/name/key.ts';

const place = (functionName: string, line: number, functionLine: number, more = {}) => ({
  functionName,
  file: '/app/src/report.js',
  line,
  functionLine,
  functionColumn: 3,
  ...more,
});

describe('the name in a list', () => {
  const nameOf = (functionName: string, file: string, cwd = '/app') =>
    distinctNamesOf([place(functionName, 31, 30, { file })], cwd)[0];

  test.each([
    ['render', '/app/src/report.js', 'render'],
    ['<anonymous>', '/app/src/report.js', '<anonymous> (src/report.js:30)'],
    ['e', '/app/dist/main.js', 'e (dist/main.js:30)'],
    ['<anonymous>', '/app/node_modules/@acme/lib/index.js', '<anonymous> (@acme/lib/index.js:30)'],
    ['<anonymous>', '/elsewhere/of/a/long/way/index.js', '<anonymous> (way/index.js:30)'],
    ['<anonymous>', 'webpack://app/./src/a.ts', '<anonymous> (src/a.ts:30)'],
  ])('of %s in %s is %s', (functionName, file, value) => {
    expect(nameOf(functionName, file)).toBe(value);
  });
});

describe('what distinguishes a function in metrics', () => {
  const file = '/app/src/report.js';

  test('is its file and the line where it begins, if its name says nothing', () => {
    expect(beginOf(place('<anonymous>', 31, 30))).toEqual({ file, line: 30 });
    expect(beginOf({ functionName: 'e', file, line: 7 })).toEqual({ file, line: 7 });
    expect(beginOf(place('render', 31, 30))).toEqual({});
    expect(beginOf({ functionName: '<anonymous>' })).toEqual({});
  });
});
