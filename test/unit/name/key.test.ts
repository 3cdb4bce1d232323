import { keyOf, metricNameOf } from '../../../src/name/key.ts';

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

describe('the value of the metric', () => {
  test.each([
    ['render', '/app/src/report.js', 'render'],
    ['<anonymous>', '/app/src/report.js', '<anonymous> (src/report.js:30)'],
    ['e', '/app/dist/main.js', 'e (dist/main.js:30)'],
    ['<anonymous>', '/app/node_modules/@acme/lib/index.js', '<anonymous> (@acme/lib/index.js:30)'],
    ['<anonymous>', '/elsewhere/of/a/long/way/index.js', '<anonymous> (way/index.js:30)'],
    ['<anonymous>', 'webpack://app/./src/a.ts', '<anonymous> (src/a.ts:30)'],
  ])('of %s in %s is %s', (functionName, file, value) => {
    expect(metricNameOf(place(functionName, 31, 30, { file }), '/app')).toBe(value);
  });

  test('on Windows', () => {
    const file = 'C:\\app\\src\\report.js';
    expect(metricNameOf(place('<anonymous>', 31, 30, { file }), 'C:\\app')).toBe(
      '<anonymous> (src/report.js:30)',
    );
  });

  test('of minified code has the column', () => {
    const minified = place('e', 1, 1, { functionColumn: 48213 });
    expect(metricNameOf(minified, '/app')).toBe('e (src/report.js:1:48213)');
  });

  test('of evaluated code has no file, and a long path is cut', () => {
    expect(metricNameOf({ functionName: '<anonymous>' }, '/app')).toBe('<anonymous>');
    const value = metricNameOf(place('e', 1, 1, { file: `/app/${'x'.repeat(500)}.js` }), '/app');
    expect(value).toHaveLength('e ('.length + 80 + ':1)'.length);
    expect(value).toContain('(…x');
  });

  test('without the beginning of the function the line has to do', () => {
    expect(metricNameOf({ functionName: 'e', file: '/app/a.js', line: 7 }, '/app')).toBe(
      'e (a.js:7)',
    );
  });
});
