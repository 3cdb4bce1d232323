import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Baseline } from '../../src/testing/baseline.ts';
import {
  headlineOf,
  judgeByBaseline,
  listObsolete,
  type RecordedBlock,
  seenIn,
} from '../../src/testing/known-blocks.ts';
import { checkOptions, UPDATE_VARIABLE } from '../../src/testing/options.ts';
import { nameOfTest } from '../../src/testing/test-name.ts';
import type { EventLoopBlock } from '../../src/types.ts';

let folder: string;
let file: string;
const said: string[] = [];

jest.mock('node:fs', () => ({ ...jest.requireActual('node:fs'), writeSync: jest.fn() }));
const { writeSync } = jest.requireMock<{ writeSync: jest.Mock }>('node:fs');

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'event-loop-baseline-'));
  file = join(folder, 'known.json');
  said.length = 0;
  writeSync.mockImplementation((_fd: number, text: string) => said.push(text));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const block = (functionName: string, durationMillis: number, path = 'src/report.js', line = 1) =>
  ({
    startTimeMillis: 0,
    durationMillis,
    callbacks: 1,
    samples: 1,
    code: { functionName, file: join(folder, path), line, stackTrace: '' },
  }) satisfies EventLoopBlock;
/** The block that is named by the first of the functions, with the time of each. */
const blockOf = (
  durationMillis: number,
  functions: Record<string, number>,
  runDelayMillis = 0,
): RecordedBlock => ({
  block: block(Object.keys(functions)[0] as string, durationMillis),
  functions: Object.entries(functions).map(([name, millis]) => ({
    place: block(name, 0).code,
    millis,
    apartMillis: millis,
  })),
  atLeastMillis: durationMillis - runDelayMillis,
  atMostMillis: durationMillis - runDelayMillis,
});
const recorded = (blocks: (EventLoopBlock | RecordedBlock)[]): RecordedBlock[] =>
  blocks.map((one) =>
    'block' in one
      ? one
      : {
          block: one,
          functions: [],
          atLeastMillis: one.durationMillis,
          atMostMillis: one.durationMillis,
        },
  );

const SITE = new Error('called here');
const THRESHOLD_MILLIS = 50;
type Blocks = (EventLoopBlock | RecordedBlock)[];

/** As `expectNoBlocks` does it. */
async function judge(blocks: Blocks, { name = 'a test' as string | undefined } = {}) {
  const baseline = new Baseline(file);
  const test = nameOfTest(name, baseline.folder, SITE);
  const seen = seenIn(baseline, test, recorded(blocks));
  const verdict = judgeByBaseline(baseline, test, recorded(blocks), seen, THRESHOLD_MILLIS);
  if (verdict.unknown.length > 0)
    return { blocks: verdict.unknown, headline: headlineOf(baseline, test, verdict) };
  listObsolete(baseline, test, verdict);
  return undefined;
}

async function update(blocks: Blocks, { name = 'a test', site = SITE } = {}) {
  const baseline = new Baseline(file);
  const test = nameOfTest(name === '' ? undefined : name, baseline.folder, site);
  await baseline.update(test.name, seenIn(baseline, test, recorded(blocks)), test.isOfOneCall);
}

const write = (blocks: object) => writeFileSync(file, JSON.stringify({ version: 2, blocks }));
const written = () => JSON.parse(readFileSync(file, 'utf8')).blocks;

test('without a file every block is new, and without a block nothing is', async () => {
  expect(await judge([])).toBeUndefined();
  const unknown = await judge([block('hashRow', 200)]);
  expect(unknown?.blocks).toHaveLength(1);
  expect(unknown?.headline).toContain('  + hashRow (src/report.js): 200 ms, new');
  expect(existsSync(file)).toBe(false);
});

test('the file is sorted, a place a line, without folders of the machine', async () => {
  await update([block('zip', 99.2), block('hashRow', 200), block('hashRow', 300)], { name: 'b' });
  const dependency = block('parse', 100, '../elsewhere/node_modules/csv/lib/index.js');
  await update([dependency, block('<anonymous>', 100, 'src/a.js', 7)], { name: 'a' });
  const { code: _code, ...unknown } = block('', 120);
  await update([unknown], { name: 'c' });
  expect(readFileSync(file, 'utf8')).toBe(`{
  "version": 2,
  "blocks": {
    "a": {
      "<anonymous> (src/a.js:7)": 100,
      "parse (node_modules/csv/lib/index.js)": 100
    },
    "b": {
      "hashRow (src/report.js)": 300,
      "zip (src/report.js)": 100
    },
    "c": {
      "unknown code": 120
    }
  }
}
`);
  expect(readdirSync(folder)).toEqual(['known.json']);
});

test('what is known passes, up to twice as long; longer and new ones fail, with the difference', async () => {
  write({
    passes: { 'hashRow (src/report.js)': 100 },
    fails: { 'hashRow (src/report.js)': 100, 'gone (src/report.js)': 150 },
  });
  expect(await judge([block('hashRow', 200)], { name: 'passes' })).toBeUndefined();
  const blocks = [block('hashRow', 150), block('hashRow', 200.1), block('zip', 120)];
  const unknown = await judge(blocks, { name: 'fails' });
  expect(unknown?.blocks).toEqual(blocks.slice(1));
  expect(unknown?.headline).toEqual([
    'the event loop was blocked where known.json does not know it, in "fails"',
    '',
    '  + zip (src/report.js): 120 ms, new',
    '  ! hashRow (src/report.js): 200 ms, more than twice the known 100 ms',
    '  - gone (src/report.js): obsolete, known with 150 ms',
    '',
    `${UPDATE_VARIABLE}=true writes what blocks into the baseline`,
    '',
  ]);
});

test('unchanged code passes, whichever of its functions a block is named by', async () => {
  await update([blockOf(120, { hashRow: 65, render: 120 })]);
  expect(written()).toEqual({
    'a test': { 'hashRow (src/report.js)': 120, 'render (src/report.js)': 120 },
  });
  expect(await judge([blockOf(130, { render: 130, hashRow: 60 })])).toBeUndefined();
  expect(await judge([blockOf(130, { hashRow: 70 })])).toBeUndefined();
  expect(said).toEqual([]);
});

test('a new function is found that blocks inside a known block', async () => {
  await update([blockOf(120, { hashRow: 65, render: 120 })]);
  const unknown = await judge([blockOf(190, { hashRow: 110, render: 190, addTotals: 70 })]);
  expect(unknown?.headline).toContain('  + addTotals (src/report.js): 70 ms, new');
  expect(unknown?.blocks).toHaveLength(1);
});

test.each([
  ['less than the threshold', 120, { hashRow: 65, render: 120, log: 49 }],
  ['less than a quarter of the block', 240, { hashRow: 130, render: 240, log: 59 }],
])('a new function that has %s is let pass', async (_what, millis, functions) => {
  await update([blockOf(120, { hashRow: 65, render: 120 })]);
  expect(await judge([blockOf(millis, functions)])).toBeUndefined();
});

test('a function with hardly any time is not added to the file, but stays if it is there', async () => {
  await update([blockOf(200, { hashRow: 190, log: 9 })]);
  expect(Object.keys(written()['a test'])).toEqual(['hashRow (src/report.js)']);
  write({ 'a test': { 'hashRow (src/report.js)': 200, 'log (src/report.js)': 200 } });
  await update([blockOf(200, { hashRow: 190, log: 9 })]);
  expect(Object.keys(written()['a test'])).toHaveLength(2);
});

test('a block is not longer because other processes had the CPU', async () => {
  await update([blockOf(120, { hashRow: 120 })]);
  expect(await judge([blockOf(900, { hashRow: 900 }, 770)])).toBeUndefined();
  await update([blockOf(900, { hashRow: 900 }, 770)], { name: 'starved' });
  expect(written().starved).toEqual({ 'hashRow (src/report.js)': 130 });
});

test('an attempt after one that failed is judged by itself', async () => {
  write({ retried: { 'hashRow (src/report.js)': 100 } });
  expect(await judge([block('hashRow', 900)], { name: 'retried' })).toBeDefined();
  expect(await judge([block('hashRow', 110)], { name: 'retried' })).toBeUndefined();
});

test('a place that is gone is listed once, and does not fail', async () => {
  write({ gone: { 'hashRow (src/report.js)': 100 } });
  expect(await judge([], { name: 'gone' })).toBeUndefined();
  expect(await judge([], { name: 'gone' })).toBeUndefined();
  expect(said).toEqual([
    `known.json: obsolete in "gone", ${UPDATE_VARIABLE}=true removes it\n` +
      '  - hashRow (src/report.js): known with 100 ms\n',
  ]);
});

test('an update removes what is gone from its test, and a test without blocks', async () => {
  write({
    shrinks: { 'f (a.js)': 1, 'hashRow (src/report.js)': 1 },
    empties: { 'f (a.js)': 1 },
    other: { 'f (a.js)': 1 },
  });
  await update([block('hashRow', 200)], { name: 'shrinks' });
  await update([], { name: 'empties' });
  expect(written()).toEqual({
    shrinks: { 'hashRow (src/report.js)': 200 },
    other: { 'f (a.js)': 1 },
  });
});

test('an update leaves a length that is hardly another', async () => {
  write({
    'a stable test': {
      'first (src/report.js)': 200,
      'second (src/report.js)': 200,
      'third (src/report.js)': 200,
    },
  });
  await update([block('first', 110), block('second', 90), block('third', 210)], {
    name: 'a stable test',
  });
  expect(written()['a stable test']).toEqual({
    'first (src/report.js)': 200,
    'second (src/report.js)': 90,
    'third (src/report.js)': 210,
  });
});

test('by default the test has its file and name', async () => {
  await update([block('hashRow', 200)], { name: '' });
  const [name] = Object.keys(written());
  expect(name).toMatch(
    /test\/unit\/baseline\.test\.ts > by default the test has its file and name$/,
  );
});

test('a runner that does not give a name: the file of the caller, whose other calls keep theirs', async () => {
  const site = Object.assign(new Error(), {
    stack: `Error\n    at async TestContext.<anonymous> (${pathToFileURL(join(folder, 'my tests/a.test.mjs'))}:1:2)`,
  });
  const { expect: runner } = globalThis as { expect?: unknown };
  const inFile = <Result>(action: () => Result) => {
    Object.assign(globalThis, { expect: undefined });
    try {
      return action();
    } finally {
      Object.assign(globalThis, { expect: runner });
    }
  };
  write({ 'my tests/a.test.mjs': { 'other (src/report.js)': 100 } });
  await inFile(() => update([block('hashRow', 100)], { name: '', site }));
  expect(written()).toEqual({
    'my tests/a.test.mjs': { 'hashRow (src/report.js)': 100, 'other (src/report.js)': 100 },
  });
  const baseline = new Baseline(file);
  const test = inFile(() => nameOfTest(undefined, baseline.folder, site));
  const blocks = recorded([block('hashRow', 100)]);
  const verdict = judgeByBaseline(baseline, test, blocks, seenIn(baseline, test, blocks), 50);
  expect(verdict).toMatchObject({ unknown: [], differences: [] });
});

test.each([
  ['no JSON', '<<<<<<< HEAD'],
  ['another version', '{ "version": 1, "blocks": {} }'],
  ['no blocks', '{ "version": 2 }'],
  ['a length that is none', '{ "version": 2, "blocks": { "a": { "b": "c" } } }'],
])('a file with %s is an error, and is left as it is', async (_what, text) => {
  writeFileSync(file, text);
  await expect(judge([])).rejects.toThrow(/known\.json is no baseline of blocks/);
  await expect(update([block('hashRow', 100)])).rejects.toThrow(/known\.json is no baseline/);
  expect(readFileSync(file, 'utf8')).toBe(text);
  expect(readdirSync(folder)).toEqual(['known.json']);
});

test('updates at the same time lose nothing', async () => {
  const names = Array.from({ length: 30 }, (_, i) => `test ${i}`);
  await Promise.all(names.map((name) => update([block('hashRow', 100)], { name })));
  expect(Object.keys(written()).sort()).toEqual(names.sort());
});

test('the lock of a process that was killed is broken', async () => {
  writeFileSync(`${file}.lock`, '');
  utimesSync(`${file}.lock`, 0, 0);
  await update([block('hashRow', 100)]);
  expect(readdirSync(folder)).toEqual(['known.json']);
});

test.each([
  [{ baseline: 1 }, /option baseline must be a path or a file URL/],
  [{ baseline: 'a', name: 1 }, /option name must be a string/],
  [{ baseline: 'a', updateBaseline: 'yes' }, /option updateBaseline must be true or false/],
  [{ jobSummary: 1 }, /expectNoBlocks: option jobSummary must be true or false/],
])('%j is rejected', (options, message) => {
  expect(() => checkOptions('expectNoBlocks', options as never)).toThrow(message);
});

test('the environment variable: true, false, or an error', () => {
  const check = (text: string) => {
    process.env[UPDATE_VARIABLE] = text;
    try {
      checkOptions('expectNoBlocks', { baseline: file });
    } finally {
      delete process.env[UPDATE_VARIABLE];
    }
  };
  for (const text of ['true', ' FALSE ', '']) expect(() => check(text)).not.toThrow();
  expect(() => check('all')).toThrow(`${UPDATE_VARIABLE} is "all", expected true or false`);
});
