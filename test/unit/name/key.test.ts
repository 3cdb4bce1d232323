import { beginOf, distinctNamesOf, keyOf } from '../../../src/name/key.ts';

const place = (functionName: string, line: number, functionLine: number, more = {}) => ({
  functionName,
  file: '/app/src/report.js',
  line,
  functionLine,
  functionColumn: 3,
  ...more,
});

describe('the key', () => {
  test('of a function is the same wherever in it the time was spent', () => {
    expect(keyOf(place('render', 31, 30))).toBe(keyOf(place('render', 40, 30)));
    expect(keyOf(place('render', 31, 30))).not.toBe(
      keyOf(place('render', 31, 30, { file: '/app/b.js' })),
    );
    expect(keyOf(place('<anonymous>', 31, 30))).toBe(keyOf(place('<anonymous>', 40, 30)));
  });

  test.each(['<anonymous>', 'e', 'ab', 'Report.t', 'new n', '#x', 'Report.#x'])(
    'of %s, which says nothing, distinguishes functions of one file',
    (name) => {
      expect(keyOf(place(name, 31, 30))).not.toBe(keyOf(place(name, 51, 50)));
    },
  );

  test.each(['run', 'Report.run', 'new Report', 'get on'.replace(' on', ' all')])(
    'of %s does not',
    (name) => {
      expect(keyOf(place(name, 31, 30))).toBe(keyOf(place(name, 51, 50)));
    },
  );

  test('has the column if all code is on one line', () => {
    const minified = (functionColumn: number) => keyOf(place('e', 1, 1, { functionColumn }));
    expect(minified(4711)).not.toBe(minified(4712));
    expect(minified(11)).toBe(minified(12));
  });
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

  test('on Windows, and of a long path', () => {
    expect(nameOf('<anonymous>', 'C:\\app\\src\\report.js', 'C:\\app')).toBe(
      '<anonymous> (src/report.js:30)',
    );
    const long = nameOf('e', `/app/${'x'.repeat(500)}.js`);
    expect(long).toHaveLength('e ('.length + 80 + ':30)'.length);
    expect(long).toContain('(…x');
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
