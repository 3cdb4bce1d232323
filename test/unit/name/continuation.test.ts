/** Positions are those that V8 has for the code of a file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { runInThisContext } from 'node:vm';
import type { StackFrame } from '../../../src/block.ts';
import { passesOn, splitsByText } from '../../../src/core/explain/name/continuation.ts';
import { toFrame } from '../../../src/core/explain/name/frame.ts';
import { allowReading } from '../../../src/support/reading.ts';

beforeAll(allowReading);

const folder = mkdtempSync(join(tmpdir(), 'continuation-'));
afterAll(() => rmSync(folder, { recursive: true }));

function framesNow(): StackFrame[] {
  const { prepareStackTrace } = Error;
  Error.prepareStackTrace = (_, sites) => sites;
  const sites = new Error().stack as unknown as NodeJS.CallSite[];
  Error.prepareStackTrace = prepareStackTrace;
  return sites.map((site) => toFrame(site, () => false));
}

let files = 0;
/** What is said of the function of that text, given a function that asks, at once or later. */
async function askedOf(source: string, later: boolean) {
  const file = join(folder, `${++files}.js`);
  writeFileSync(file, `(run, imported) =>\n  (${source})`);
  let frames: StackFrame[] = [];
  const ask = async () => {
    if (later) await turnOfLoop();
    frames = framesNow();
  };
  const run = (...given: unknown[]) => (given.at(-1) as typeof ask)();
  const middleware = runInThisContext(`(run, imported) =>\n  (${source})`, { filename: file });
  const options = Object.assign(ask, { next: ask, handle: ask });
  await middleware(run, ask)(options, options);
  const frame = frames.find((each) => each.file === file) as StackFrame;
  return passesOn(frame);
}

describe.each([
  ['at once', false],
  ['later', true],
])('a function that calls another, which runs %s', (_when, later) => {
  test.each([
    'async (ctx, next) => { const value = await next(); return value; }',
    'async function timer(ctx, next) { try { return await next(ctx); } finally { ctx.end = 1; } }',
    'async ({ handle }) => { for (let i = 0; i < 1; i++) await handle(); }',
    'async (options) => await options.next({ options })',
    'async (n, $t) => { await $t() }',
    'async (ctx, next) => { await next.handle(ctx); }',
    'async (ctx, next) => { await run(ctx, () => next()); }',
    'async (next) => { await (async () => { await next(); })(); }',
  ])('that it was given: %s', async (source) => {
    expect(await askedOf(source, later)).toBe(true);
  });

  test.each([
    'async (ctx, next) => { await imported(ctx.id); }',
    'async (ctx, next) => { await ctx.handle("/view", { next: 1 }); }',
    'async (ctx, next) => { await imported(ctx.id, (error) => next(error)); }',
    'async (ctx, next) => { await run(ctx, next); }',
  ])('of its own choice: %s', async (source) => {
    expect(await askedOf(source, later)).toBe(false);
  });
});

test.each([
  ["split(' ')", true],
  ['split(`,`)', true],
  ['split(/ +/)', false],
  ['split(comma)', false],
])('text.%s is by a text: %s', (call, is) => {
  const file = join(folder, `${++files}.js`);
  writeFileSync(file, `const words = (text) =>\n  text.${call};\n`);
  expect(splitsByText({ file, line: 2, column: 8 })).toBe(is);
});
