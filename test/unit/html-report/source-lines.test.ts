/** Which source lines the report page has: real files, and maps that a real bundler has made. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildSync } from 'esbuild';
import { SourceLines } from '../../../src/outputs/html-report/source-lines.ts';
import type { SampledFrame } from '../../../src/types.ts';

const TEXT = Array.from({ length: 40 }, (_, i) => `export const line${i + 1} = ${i + 1};`);
const STACKS = { frames: [], files: [], nodes: [] };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'event-loop-source-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text = TEXT.join('\n')): string {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** Files that were made in a test are older than the process, which starts later. */
function sourceLines(...frames: Partial<SampledFrame>[]): SourceLines {
  const lines = new SourceLines(Date.now() + 1000);
  const sampled = frames.map((frame) => ({
    name: 'f',
    file: '',
    line: 1,
    functionLine: 1,
    ...frame,
  }));
  lines.add([{ frames: sampled, millis: 1 }]);
  return lines;
}
const placeIn = (file: string, line = 10, column = 1) => ({
  functionName: 'f',
  file,
  line,
  column,
  functionLine: 8,
  stackTrace: '',
});
const read = (file: string, lines = sourceLines({ file, inApp: true })) =>
  lines.read([placeIn(file)], STACKS);
const numbers = (file: string, lines?: SourceLines) =>
  Object.keys(read(file, lines)[file] ?? {}).map(Number);

test('five lines around the place, and those of its function that were sampled', () => {
  const file = write('app.js');

  const frames = [
    ['f', 0, 30, 8],
    ['<anonymous>', 0, 9, 8],
    ['f', 0, 31, 7],
    ['another', 0, 35, 33],
  ] as const;
  const own = sourceLines({ file, inApp: true });
  const sources = own.read([placeIn(file)], { frames, files: [file], nodes: [] });
  expect(Object.keys(sources[file] ?? {}).map(Number)).toEqual([8, 9, 10, 11, 12, 30, 31]);
  expect(sources[file]?.[10]).toBe('export const line10 = 10;');
});

test('only files of the application, with the name of a source', () => {
  expect(numbers(write('app.mjs'))).toHaveLength(5);
  expect(numbers(write('node_modules/package/index.js'))).toEqual([]);
  expect(numbers(write('.env'))).toEqual([]);
  expect(numbers(path.join(folder, 'none.js'))).toEqual([]);
  expect(numbers('node:fs')).toEqual([]);
  const file = write('lib/vendored.js');
  expect(numbers(file, sourceLines({ file }))).toEqual([]);
});

test('bounded: the length of a line, the size of a file, minified code', () => {
  const long = write('long.js', `${'\n'.repeat(9)}${'x'.repeat(500)}`);
  expect(read(long)[long]?.[10]).toHaveLength(200);
  expect(numbers(write('large.js', '\n'.repeat(9 * 1024 * 1024)))).toEqual([]);
  const minified = write('minified.js');
  const own = sourceLines({ file: minified, inApp: true });
  expect(own.read([placeIn(minified, 1, 4000)], STACKS)).toEqual({});
});

describe.each(['inline', 'linked'] as const)('a bundle with its map %s', (sourcemap) => {
  let source: string;
  let built: string;
  const build = (sourcesContent: boolean) => {
    source = write('src/app.ts');
    built = path.join(folder, 'dist/app.js');
    buildSync({ entryPoints: [source], outfile: built, sourcemap, sourcesContent });
  };
  const lines = () => numbers(source, sourceLines({ file: source, builtFile: built, inApp: true }));

  test('the source on disk, else what the map has of it, else nothing', () => {
    build(false);
    expect(lines()).toEqual([8, 9, 10, 11, 12]);
    rmSync(source);
    expect(lines()).toEqual([]);
    build(true);
    rmSync(source);
    expect(lines()).toEqual([8, 9, 10, 11, 12]);
  });

  test('no line of what was built of it', () => {
    build(false);
    expect(numbers(built)).toEqual([]);
  });
});
