import type { StackFrame } from '../../../src/block.ts';
import { createOriginOf } from '../../../src/name/in-app.ts';
import { agentPathAt, pathAt, pathBefore } from '../../../src/name/stack-path.ts';
import { awaiting, builtin, entered, evaluated, frame, own } from './support/stacks.ts';

const originOf = createOriginOf();
const names = (...frames: StackFrame[]) => pathAt(frames, originOf).steps.map(({ name }) => name);
const namesBefore = (...frames: StackFrame[]) =>
  pathBefore(frames, originOf).steps.map(({ name }) => name);

const app = (name: string, line?: number) => frame(name, '/app/src/a.js', line);
const lib = (name: string, begins = 1) =>
  frame(name, '/app/node_modules/lib/index.js', 10, { begins });
const agent = (name: string) => frame(name, '/app/node_modules/require-in-the-middle/index.js');
const node = (name: string, file = 'node:internal/timers') => frame(name, file);

test('from the outermost function to the innermost, of packages and the application', () => {
  expect(names(builtin('RegExp.exec'), lib('exec'), app('render'), node('listOnTimeout'))).toEqual([
    'render',
    'exec',
  ]);
});

test('no function, if only Node.js runs', () => {
  expect(names(node('processTimers'))).toEqual([]);
  expect(names()).toEqual([]);
  expect(names(own('wrapper'), node('processTimers'))).toEqual([]);
});

test('this package is no step, and what its hook calls is not either', () => {
  expect(names(own('parse'), app('load'), own('with'), app('main'))).toEqual(['main', 'load']);
  const emitHook = node('emitHook', 'node:internal/async_hooks');
  const hook = [lib('getSpan'), own('after'), emitHook];
  expect(names(...hook, app('main'))).toEqual(['main']);
  expect(names(...hook)).toEqual([]);
  // It has entered an async resource to ask for its context: hooks are called inside of it.
  const asked = [own('before'), node('runInAsyncScope', 'node:async_hooks'), own('contextOf')];
  expect(names(...hook, ...asked, ...hook, app('main'))).toEqual(['main']);
  expect(agentPathAt([own('before'), emitHook, ...asked, ...hook], originOf, false)).toEqual([]);
});

test('what a timer of this package calls is no step, unless it is a hook of the application', () => {
  const timer = [own('beat'), own('onTimer'), node('listOnTimeout', 'node:internal/timers')];
  expect(names(lib('record'), ...timer)).toEqual([]);
  expect(names(lib('serialize'), app('blockHook'), ...timer)).toEqual(['blockHook', 'serialize']);
});

test("an agent's wrapper is no step, unless it is alone", () => {
  expect(names(agent('search'), agent('patchedRequire'), app('load'))).toEqual(['load']);
  expect(names(agent('search'), agent('patchedRequire'), node('emit'))).toEqual([
    'patchedRequire',
    'search',
  ]);
});

describe('a caller that awaits what runs is not running', () => {
  const handler = awaiting('handler', '/app/src/a.js');

  test('and is no step, if the application is running', () => {
    expect(names(lib('parse'), app('load'), handler)).toEqual(['load', 'parse']);
    expect(names(app('load'), handler)).toEqual(['load']);
  });

  test('but has called a package: the innermost function of the application', () => {
    const execute = awaiting('execute', '/app/node_modules/lib/index.js');
    const main = awaiting('main', '/app/src/main.js');
    expect(names(lib('complete'), execute, handler, main)).toEqual(['handler', 'complete']);
    expect(names(lib('complete'), execute)).toEqual(['execute', 'complete']);
  });

  test('and has not, if it awaits a dispatcher: a middleware that has called next()', () => {
    const dispatch = awaiting('dispatch', '/app/node_modules/hono/compose.js');
    expect(names(lib('parse'), dispatch, handler)).toEqual(['dispatch', 'parse']);
    expect(names(lib('parse'), handler, dispatch)).toEqual(['handler', 'parse']);
    const astro = (name: string) => `/app/node_modules/astro/dist/${name}.js`;
    const next = awaiting('lastNext', astro('render-context'));
    const call = awaiting('callMiddleware', astro('core'));
    const render = frame('renderPage', astro('page'));
    expect(names(render, next, handler, call)).toEqual(['lastNext', 'renderPage']);
  });

  test('and is a step if nothing else is on the stack: the application first', () => {
    const lost = awaiting('next', '/app/node_modules/lib/index.js');
    expect(names(node('read', 'node:fs'), lost, handler)).toEqual(['handler']);
    expect(names(node('read', 'node:fs'), lost)).toEqual(['next']);
  });
});

describe('evaluated code', () => {
  test('is nowhere: its caller is named', () => {
    expect(names(evaluated('validate10'), app('isOrder'))).toEqual(['isOrder']);
  });

  test('is named if there is no other', () => {
    const { steps } = pathAt([evaluated('validate10'), node('processTimers')], originOf);
    expect(steps).toMatchObject([{ name: 'validate10', origin: 'dependency' }]);
  });
});

describe('an anonymous function', () => {
  test('that a builtin calls has the name of the function around it, with its own place', () => {
    const frames = [
      app('', 3),
      builtin('Array.find'),
      frame('', '/app/src/a.js', 9, { begins: 8 }),
      builtin('Array.map'),
      frame('buildSpans', '/app/src/a.js', 20, { begins: 18 }),
    ];
    expect(pathAt(frames, originOf).steps).toMatchObject([
      { name: 'buildSpans', frame: { line: 20 } },
      { name: 'buildSpans', frame: { line: 9 } },
      { name: 'buildSpans', frame: { line: 3 } },
    ]);
  });

  test.each<[string, StackFrame[]]>([
    ['another file', [builtin('Array.map'), lib('map')]],
    ['a function of the same file that was given it', [app('retry')]],
    ['evaluated code', [evaluated('run'), app('retry')]],
    ['nothing', []],
  ])('that %s calls stays anonymous', (_who, callers) => {
    expect(names(app(''), ...callers).at(-1)).toBe('<anonymous>');
  });

  test('has the same key on each of its lines, and another than its neighbour', () => {
    const keyOf = (line: number, begins: number) =>
      pathAt([frame('', '/app/src/a.js', line, { begins })], originOf).steps[0]?.key;
    expect(keyOf(3, 2)).toBe(keyOf(4, 2));
    expect(keyOf(3, 2)).not.toBe(keyOf(3, 3));
  });
});

describe('a sample that came late', () => {
  const called = entered('next', '/app/src/b.js');

  test('found a function that was only just called: what ran was its caller', () => {
    expect(namesBefore(called, app('handle'))).toEqual(['handle']);
    expect(names(called, app('handle'))).toEqual(['handle', 'next']);
  });

  test('found a function in the middle of its work, or below a builtin', () => {
    expect(namesBefore({ ...called, isAtEntry: false }, app('handle'))).toEqual(['handle', 'next']);
    expect(namesBefore(builtin('JSON.stringify'), called, app('handle'))).toEqual([
      'handle',
      'next',
    ]);
  });

  test('found a function without a caller, or with one that only wraps or awaits it', () => {
    expect(namesBefore(called)).toEqual(['next']);
    expect(namesBefore(called, agent('wrapped'), node('emit'))).toEqual(['next']);
    expect(namesBefore(called, awaiting('handler', '/app/src/a.js'))).toEqual(['next']);
  });
});

describe('loading a module', () => {
  // As Node.js 22 and later have it; before, it has a name as well.
  const compile = frame('', 'node:internal/modules/cjs/loader', 10, {
    text: 'Module._compile (node:…)',
  });
  const loader = [
    node('Module._load', 'node:internal/modules/cjs/loader'),
    agent('patchedRequire'),
  ];
  const required = (line: number, file: string) => frame('', file, line);

  test('what the loader calls without a name is the code of a module', () => {
    const stack = [
      required(3, '/app/node_modules/big/index.js'),
      compile,
      ...loader,
      node('require', 'node:internal/modules/helpers'),
      app('handler'),
    ];
    expect(pathAt(stack, originOf)).toMatchObject({
      steps: [
        { name: 'handler', isModule: false },
        { name: '<anonymous>', isModule: true },
      ],
      isLoading: false,
    });
    expect(pathAt([lib('hook'), compile], originOf).steps).toMatchObject([{ isModule: false }]);
  });

  test('the loader itself, below the function that requires', () => {
    expect(pathAt([compile, ...loader, app('handler')], originOf)).toMatchObject({
      steps: [{ name: 'handler' }],
      isLoading: true,
    });
    expect(pathAt([app('handler'), compile], originOf).isLoading).toBe(false);
  });

  test('a module that had only just been compiled has not run, and is known', () => {
    const stack = [
      frame('', '/app/node_modules/big/index.js', 1, { isAtEntry: true }),
      compile,
      ...loader,
      app('handler'),
    ];
    expect(pathBefore(stack, originOf)).toMatchObject({
      steps: [{ name: 'handler' }],
      isLoading: true,
      loads: '/app/node_modules/big/index.js',
    });
  });

  test('by import(): the function that awaits it has called it', () => {
    const stack = [
      frame('', 'file:///app/node_modules/big/index.mjs', 3),
      node('ModuleJob.run', 'node:internal/modules/esm/module_job'),
      frame('ModuleLoader.import', 'node:internal/modules/esm/loader', 1, { isAsync: true }),
      awaiting('handler', '/app/src/a.js', 12),
    ];
    expect(names(...stack)).toEqual(['handler', '<anonymous>']);
  });
});

describe('a function that recurs', () => {
  test('is one step, at its innermost call', () => {
    const { steps } = pathAt(
      [app('walk', 30), app('walk', 20), app('walk', 20), app('main')],
      originOf,
    );
    expect(steps).toMatchObject([{ name: 'main' }, { name: 'walk', frame: { line: 30 } }]);
  });

  test('with others in between is one way as well, however deep', () => {
    const clone = [
      lib('baseClone', 1),
      lib('arrayEach', 2),
      lib('baseClone', 1),
      lib('arrayEach', 2),
    ];
    expect(names(lib('assignValue', 3), ...clone, ...clone, app('copy'))).toEqual([
      'copy',
      'arrayEach',
      'baseClone',
      'assignValue',
    ]);
  });

  test('does not hide a function of the application behind a package', () => {
    const each = lib('each', 1);
    expect(names(lib('leaf', 2), each, app('row'), each, app('list'))).toEqual([
      'list',
      'each',
      'row',
      'each',
      'leaf',
    ]);
  });
});
