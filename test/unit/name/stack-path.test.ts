import type { StackFrame } from '../../../src/block.ts';
import { createOriginOf } from '../../../src/core/explain/name/in-app.ts';
import { pathAt, pathBefore, placesOn } from '../../../src/core/explain/name/stack-path.ts';
import { awaiting, evaluated, frame } from './support/stacks.ts';

const originOf = createOriginOf();
const names = (...frames: StackFrame[]) => pathAt(frames, originOf).steps.map(({ name }) => name);

const app = (name: string, line?: number) => frame(name, '/app/src/a.js', line);
const lib = (name: string, begins = 1) =>
  frame(name, '/app/node_modules/lib/index.js', 10, { begins });
const agent = (name: string) => frame(name, '/app/node_modules/require-in-the-middle/index.js');
const node = (name: string, file = 'node:internal/timers') => frame(name, file);

describe('a caller that awaits what runs is not running', () => {
  const handler = awaiting('handler', '/app/src/a.js');

  test('and is a step if nothing else is on the stack: the application first', () => {
    const lost = awaiting('next', '/app/node_modules/lib/index.js');
    expect(names(node('read', 'node:fs'), lost, handler)).toEqual(['handler']);
    expect(names(node('read', 'node:fs'), lost)).toEqual(['next']);
  });
});

describe('evaluated code', () => {
  test('is named if there is no other', () => {
    const { steps } = pathAt([evaluated('validate10'), node('processTimers')], originOf);
    expect(steps).toMatchObject([{ name: 'validate10', origin: 'dependency' }]);
  });

  test('is of whoever runs it, and so is what it calls of packages', () => {
    const asString = lib('asString');
    const serialize = frame('serialize', '/app/node_modules/fastify/reply.js');
    const placesOf = (...frames: StackFrame[]) =>
      placesOn(pathAt(frames, originOf).steps).map(({ name }) => name);
    expect(placesOf(evaluated('main'), app('handler'))).toEqual(['handler']);
    expect(placesOf(asString, evaluated('main'), serialize)).toEqual(['serialize']);
    expect(placesOf(asString, serialize)).toEqual(['asString']);
    expect(placesOf(asString, app('helper'), evaluated('main'), serialize)).toEqual(['helper']);
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
});

describe('a function that recurs', () => {
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
