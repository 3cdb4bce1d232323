/** A block's code: place, name and stack trace, in the source. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  codeInSource,
  codeInSourceNow,
  positionsOfCode,
} from '../../../src/source-maps/code-in-source.ts';
import { buildApp, makeFolder, placeOf, removeFolders, SOURCES } from './support.ts';

afterAll(removeFolders);

const folder = makeFolder();
const file = buildApp(folder);
const generated = readFileSync(file, 'utf8');
const { line, column } = placeOf(generated, 'MARK-report');
const source = placeOf(SOURCES['src/report.ts'], 'MARK-report');
const start = placeOf(generated, 'function ');
const functionName = generated.slice(start.column - 1 + 'function '.length)[0] as string;

const code = {
  functionName: 'e',
  file,
  line,
  column,
  stackTrace: `Error\n    at e (${file}:${line}:${column})\n    at node:internal/timers:1:2`,
  somethingElse: 1,
};
const inSource = {
  file: path.join(folder, 'src/report.ts'),
  line: source.line,
  column: source.column - 1,
};

test('in a thread that has the files', () => {
  expect(codeInSourceNow(code)).toEqual({
    ...code,
    ...inSource,
    stackTrace: code.stackTrace.replace(
      `${file}:${line}:${column}`,
      `${inSource.file}:${inSource.line}:${inSource.column}`,
    ),
  });
});

test('the name of the function, where its start is known', () => {
  const known = { ...code, functionName, functionLine: start.line, functionColumn: start.column };
  expect(SOURCES['src/report.ts'] + SOURCES['src/lib/sum.ts']).toContain(
    `function ${codeInSourceNow(known).functionName}(`,
  );
});

test.each([
  ['nothing is known', {}],
  ['no place', { functionName: 'e', stackTrace: 'Error\n    at eval (<anonymous>)' }],
  [
    'no map',
    { functionName: 'e', file: '/no/such/file.js', line: 1, column: 2, stackTrace: 'Error' },
  ],
])('%s', (_name, unmapped) => {
  expect(codeInSourceNow(unmapped)).toEqual(unmapped);
  expect(
    codeInSource(
      unmapped,
      positionsOfCode(unmapped).map(() => undefined),
    ),
  ).toEqual(unmapped);
});
