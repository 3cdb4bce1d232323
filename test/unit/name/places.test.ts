import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StackFrame } from '../../../src/block.ts';
import { describeCode } from '../../../src/name/describe-code.ts';
import { createOriginOf } from '../../../src/name/in-app.ts';
import { awaiting, frame, prompt } from './support/stacks.ts';

/** Packages, and those that each depends on. */
const PACKAGES: Record<string, string[]> = {
  runtime: ['host-util'],
  'host-util': [],
  nodes: ['parser'],
  parser: ['tokenizer', 'tree'],
  tokenizer: [],
  tree: [],
  server: [],
  cms: ['query'],
  '@shop/core': [],
  '@shop/utils': [],
  query: [],
  koa: [],
};

let modules: string;

beforeAll(() => {
  modules = join(mkdtempSync(join(tmpdir(), 'places-')), 'node_modules');
  for (const [name, list] of Object.entries(PACKAGES)) {
    mkdirSync(join(modules, name), { recursive: true });
    const dependencies = Object.fromEntries(list.map((each) => [each, '*']));
    writeFileSync(join(modules, name, 'package.json'), JSON.stringify({ dependencies }));
  }
});

afterAll(() => rmSync(join(modules, '..'), { recursive: true }));

/** `run koa`: a function and its package; `await run koa`: it awaits what runs. */
function frameOf(text: string): StackFrame {
  const [name = '', of = ''] = text.replace('await ', '').split(' ');
  const file = join(modules, of, 'index.js');
  return text.startsWith('await') ? awaiting(name, file) : frame(name, file);
}

/** Stacks are as V8 has them, innermost first; each stands for as long. */
function named(...stacks: string[][]): string | undefined {
  const samples = stacks.map((stack, i) => prompt(50 + 100 * i, ...stack.map(frameOf)));
  const options = { originOf: createOriginOf(), cwd: '/app' };
  return describeCode(samples, 0, stacks.length * 100, options).code?.functionName;
}

test('a package that awaits another has called it, the innermost function first', () => {
  const chain = ['await find cms', 'await handle cms', 'await serve server'];
  expect(named(['map query', ...chain], ['step query', ...chain], ['check cms', ...chain])).toBe(
    'find',
  );
});

test('nor is a package given that has called its caller: it is used by that', () => {
  const node = ['split nodes', 'trigger host-util', 'emit runtime'];
  expect(named(['clone host-util', ...node], ['send runtime', ...node])).toBe('split');
});

test('nor one that another depends on that was called before', () => {
  const parse = ['tokenize tokenizer', 'parse parser', 'html nodes', 'emit runtime'];
  expect(named(['create tree', ...parse], ['find parser', 'html nodes', 'emit runtime'])).toBe(
    'html',
  );
});

test('nor a dispatcher that a package uses: it answers a request by it', () => {
  const answer = ['send koa', 'output nodes', 'emit runtime'];
  expect(named(answer, ['encode nodes', 'emit runtime'], ['output nodes', 'emit runtime'])).toBe(
    'output',
  );
});

test('packages of one scope are one, of which the function that ran for longest is named', () => {
  expect(
    named(
      ['a @shop/core'],
      ['b @shop/utils'],
      ['c @shop/utils'],
      ['read query'],
      ['read query'],
      ['d @shop/core'],
    ),
  ).toBe('a');
});
