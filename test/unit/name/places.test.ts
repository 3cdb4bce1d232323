import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StackFrame } from '../../../src/block.ts';
import { describeCode } from '../../../src/core/explain/name/describe-code.ts';
import { createOriginOf } from '../../../src/core/explain/name/in-app.ts';
import { frame, prompt } from './support/stacks.ts';

/** Packages that depend on none. */
const PACKAGES = ['@shop/core', '@shop/utils', 'query'];

let modules: string;

beforeAll(() => {
  modules = join(mkdtempSync(join(tmpdir(), 'places-')), 'node_modules');
  for (const name of PACKAGES) {
    mkdirSync(join(modules, name), { recursive: true });
    writeFileSync(join(modules, name, 'package.json'), '{}');
  }
});

afterAll(() => rmSync(join(modules, '..'), { recursive: true }));

/** `run koa`: a function and its package. */
function frameOf(text: string): StackFrame {
  const [name = '', of = ''] = text.split(' ');
  return frame(name, join(modules, of, 'index.js'));
}

/** Stacks are as V8 has them, innermost first; each stands for as long. */
function named(...stacks: string[][]): string | undefined {
  const samples = stacks.map((stack, i) => prompt(50 + 100 * i, ...stack.map(frameOf)));
  const options = { originOf: createOriginOf(), cwd: '/app' };
  return describeCode(samples, 0, stacks.length * 100, options).code?.functionName;
}

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
