import { type Culprit, culpritOf } from '../../src/capture/culprit.ts';
import type { Frame } from '../../src/capture/stack.ts';

const frame = (
  functionName: string | undefined,
  file: string | undefined,
  more: Partial<Frame> = {},
): Frame => ({
  functionName,
  file,
  line: 10,
  column: 5,
  isAsync: false,
  isOwn: false,
  isAtEntry: false,
  text: `${functionName} (${file}:10:5)`,
  ...more,
});
const builtin = (name: string) => frame(name, undefined, { text: `${name} (<anonymous>)` });
const evaluated = (name: string) =>
  frame(name, undefined, { text: `${name} (eval at compile (/app/engine.js:1:1), <anonymous>:3:1)` });
const nameOf = (frames: Frame[], late = false) => culpritOf(frames, late)?.functionName;

test('the innermost frame that is not of Node.js', () => {
  const culprit: Culprit = { functionName: 'hash', file: '/app/hash.js', line: 10, column: 5 };
  expect(
    culpritOf(
      [frame('update', 'node:crypto'), frame('hash', '/app/hash.js'), frame('main', '/app/main.js')],
      false,
    ),
  ).toEqual(culprit);
});

test('no function, where only Node.js runs', () => {
  expect(culpritOf([frame('processTimers', 'node:internal/timers')], false)).toBeUndefined();
  expect(culpritOf([], false)).toBeUndefined();
});

test('a dependency is named, this package is not', () => {
  const own = frame('wrapper', '/app/bundle.js', { isOwn: true });
  expect(nameOf([frame('pad', '/app/node_modules/pad/index.js'), frame('main', '/app/main.js')])).toBe('pad');
  expect(nameOf([own, frame('main', '/app/main.js')])).toBe('main');
});

test('what a hook of this package calls is not the answer either', () => {
  const hook = [
    frame('getSpan', '/app/node_modules/@opentelemetry/api/index.js'),
    frame('after', '/app/bundle.js', { isOwn: true }),
    frame('emitHook', 'node:internal/async_hooks'),
  ];
  expect(nameOf([...hook, frame('main', '/app/main.js')])).toBe('main');
  expect(nameOf(hook)).toBeUndefined();
});

test('what runs inside a context scope is the answer', () => {
  const scope = frame('wrapper', '/app/bundle.js', { isOwn: true });
  expect(nameOf([frame('render', '/app/a.js'), scope, frame('main', '/app/main.js')])).toBe('render');
});

test('a function that only awaits what runs is not named', () => {
  expect(nameOf([frame('read', 'node:fs'), frame('caller', '/app/a.js', { isAsync: true })])).toBeUndefined();
});

test('builtins are not the answer, their caller is', () => {
  expect(nameOf([builtin('RegExp.test'), frame('match', '/app/a.js')])).toBe('match');
});

describe('generated code', () => {
  test('has no place: its caller is named', () => {
    expect(nameOf([evaluated('validate10'), frame('isOrder', '/app/a.js')])).toBe('isOrder');
  });

  test('is named where there is nothing else', () => {
    expect(nameOf([evaluated('validate10'), frame('processTimers', 'node:internal/timers')])).toBe(
      'validate10',
    );
  });
});

describe('an anonymous function', () => {
  test('that a builtin calls is named by the function around it, with its own place', () => {
    const frames = [
      frame(undefined, '/app/a.js', { line: 3 }),
      builtin('Array.find'),
      frame(undefined, '/app/a.js'),
      builtin('Array.map'),
      frame('buildSpans', '/app/a.js'),
    ];
    expect(culpritOf(frames, false)).toEqual({
      functionName: 'buildSpans',
      file: '/app/a.js',
      line: 3,
      column: 5,
    });
  });

  test.each([
    ['another file', [builtin('Array.map'), frame('map', '/app/node_modules/lib/map.js')]],
    ['a function of the same file that was given it', [frame('retry', '/app/a.js')]],
    ['nobody', []],
  ])('that %s calls stays anonymous', (_who, callers) => {
    expect(nameOf([frame(undefined, '/app/a.js'), ...callers])).toBe('<anonymous>');
  });
});

describe('a capture that came late', () => {
  const called = frame('next', '/app/b.js', { isAtEntry: true });
  const caller = frame('handle', '/app/a.js');

  test('found a function that was only just called: what ran was its caller', () => {
    expect(nameOf([called, caller], true)).toBe('handle');
    expect(nameOf([called, caller], false)).toBe('next');
  });

  test('found a function in the middle of its work, or below a builtin', () => {
    expect(nameOf([{ ...called, isAtEntry: false }, caller], true)).toBe('next');
    expect(nameOf([builtin('JSON.stringify'), called, caller], true)).toBe('next');
  });

  test('found a function without a caller', () => {
    expect(nameOf([called], true)).toBe('next');
  });
});
