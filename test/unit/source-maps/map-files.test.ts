/** What is read, what is not, and what is remembered. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { MapFiles } from '../../../src/core/explain/source-maps/map-files.ts';
import { buildApp, makeFolder, placeOf, removeFolders, SOURCES } from './support.ts';

afterAll(removeFolders);

function app(options: Parameters<typeof buildApp>[1] = {}) {
  const folder = makeFolder();
  const file = buildApp(folder, options);
  const { line, column } = placeOf(readFileSync(file, 'utf8'), 'MARK-report');
  return { folder, file, position: { file, line, column: column - 1 } };
}

/** Where `MARK-report` was written. */
function expected(folder: string) {
  const { line, column } = placeOf(SOURCES['src/report.ts'], 'MARK-report');
  return { file: path.join(folder, 'src/report.ts'), line, column: column - 1 };
}

test('a map with another name', () => {
  const { folder, file, position } = app();
  mkdirSync(path.join(folder, 'dist/maps of'));
  renameSync(`${file}.map`, path.join(folder, 'dist/maps of/main.map'));
  const code = readFileSync(file, 'utf8').replace('=main.js.map', '=maps%20of/main.map?v=1');
  writeFileSync(file, code);
  // Sources are relative to the map, and found nevertheless: what comes after the parents is right.
  expect(new MapFiles().find(position)).toEqual(expected(folder));
});

test.each([
  ['no such file', '/no/such/file.js'],
  ['no file', 'node:internal/timers'],
  ['no path', 'webpack-internal:///(rsc)/./lib/data.js'],
  ['a folder', __dirname],
  ['a relative path', 'dist/main.js'],
])('%s', (_name, file) => {
  const problems = jest.fn();
  const files = new MapFiles(problems);
  expect(files.find({ file, line: 1, column: 1 })).toBeUndefined();
  expect(problems.mock.calls).toEqual([[file, undefined]]);
});

test('a package in node_modules: only if its source is there, too', () => {
  const sources = Object.entries(SOURCES).map(([name, text]) => [`node_modules/lib/${name}`, text]);
  const folder = path.join(makeFolder(Object.fromEntries(sources)), 'node_modules/lib');
  const file = buildApp(folder);
  const { line, column } = placeOf(readFileSync(file, 'utf8'), 'MARK-report');
  const position = { file, line, column: column - 1 };
  expect(new MapFiles().find(position)).toEqual(expected(folder));
  unlinkSync(path.join(folder, 'src/report.ts'));
  expect(new MapFiles().find(position)).toBeUndefined();
});

const testWithPipes = process.platform === 'win32' ? test.skip : test;
testWithPipes('a pipe is not opened', () => {
  const { file, position } = app();
  unlinkSync(`${file}.map`);
  execFileSync('mkfifo', [`${file}.map`]);
  expect(new MapFiles().find(position)).toBeUndefined();
});

test('a map that is broken is a problem once', () => {
  const { file, position } = app();
  writeFileSync(`${file}.map`, '{"version":3,"sources":["a.ts"],"mappi');
  const problems = jest.fn();
  const files = new MapFiles(problems);
  expect(files.find(position)).toBeUndefined();
  expect(files.find(position)).toBeUndefined();
  expect(problems.mock.calls).toEqual([[file, expect.stringContaining('SyntaxError')]]);
});

test('a map that is too large is not read', () => {
  const { file, position } = app();
  const problems = jest.fn();
  const maxBytes = readFileSync(`${file}.map`).length - 1;
  expect(new MapFiles(problems, maxBytes).find(position)).toBeUndefined();
  expect(problems.mock.calls).toEqual([[file, expect.stringContaining('main.js.map is larger')]]);
});

test('a file is read once', () => {
  const { folder, position } = app();
  const files = new MapFiles();
  expect(files.find({ ...position, line: 999 })).toBeUndefined();
  rmSync(path.join(folder, 'dist'), { recursive: true });
  expect(files.find(position)).toEqual(expected(folder));
});

interface Site {
  getFunctionName(): string | null;
  getLineNumber(): number;
  getColumnNumber(): number;
  getEnclosingLineNumber(): number;
  getEnclosingColumnNumber(): number;
}

describe('names of functions', () => {
  const source = `
export function declaredFunction(rows: number[]) { return here(rows); }
export const arrowFunction = (rows: number[]) => here(rows);
const oneParameter = (rows: unknown) => here(rows);
const functionExpression = function (rows: number[]) { return here(rows); };
async function asyncFunction(rows: number[]) { return here(rows); }
const asyncArrow = async (rows: number[]) => here(rows);
function* generatorFunction(rows: number[]) { yield here(rows); }
class ReportWriter { write(rows: number[]) { return here(rows); } }
declare const here: (rows: unknown) => unknown;
'äöü'.concat('🐢');
declaredFunction([1]); arrowFunction([1]); oneParameter(1); functionExpression([1]); asyncFunction([1]);
asyncArrow([1]); [...generatorFunction([1])]; new ReportWriter().write([1]); [1].map((row) => here([row]));
globalThis.keep = [declaredFunction, arrowFunction, oneParameter, functionExpression, asyncFunction, asyncArrow,
  generatorFunction, ReportWriter];
`;
  const folder = makeFolder({ 'src/main.ts': source });
  const file = buildApp(folder, { format: 'iife' });
  const observed: [string | null, string | undefined][] = [];
  const files = new MapFiles();
  const here = (sites: Site[]) => {
    const site = sites[1] as Site;
    const found = files.find({
      file,
      line: site.getLineNumber(),
      column: site.getColumnNumber(),
      functionName: site.getFunctionName() ?? undefined,
      functionLine: site.getEnclosingLineNumber(),
      functionColumn: site.getEnclosingColumnNumber(),
    });
    expect(found?.file).toBe(path.join(folder, 'src/main.ts'));
    observed.push([site.getFunctionName(), found?.functionName]);
  };

  test('in the order in which they run', () => {
    const realm = createContext({ seeStack: here });
    runInContext(
      `globalThis.here = () => {
        Error.prepareStackTrace = (_, sites) => sites;
        const sites = new Error().stack;
        Error.prepareStackTrace = undefined;
        seeStack(sites);
      };`,
      realm,
    );
    runInContext(readFileSync(file, 'utf8'), realm, { filename: file });
    expect(observed.map(([, name]) => name)).toEqual([
      'declaredFunction',
      'arrowFunction',
      'oneParameter',
      'functionExpression',
      'asyncFunction',
      'asyncArrow',
      'generatorFunction',
      // A method keeps its name, and an anonymous function has none.
      undefined,
      undefined,
    ]);
    expect(observed[7]?.[0]).toBe('write');
    // Minified: none of them has the name it was given.
    for (const [generated, name] of observed)
      if (name !== undefined) expect(generated).not.toBe(name);
  });
});
