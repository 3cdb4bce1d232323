/** The report of a block that has not ended names no line of what a loader compiled. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { withoutLoaderLines } from '../../src/report/loader-lines.ts';
import type { OngoingFacts } from '../../src/report/ongoing-facts.ts';
import { makeFolder, removeFolders } from './source-maps/support.ts';

afterAll(removeFolders);

const TEXT = 'interface Row {\n  id: number;\n}\nexport function hash(rows: Row[]) {\n}\n';
const folder = makeFolder({});
const [ts, js] = ['hash.ts', 'hash.js'].map((name) => {
  const file = path.join(folder, name);
  writeFileSync(file, TEXT);
  return file;
}) as [string, string];
const right = TEXT.indexOf('hash');

function factsOf(file: string, offset: number): OngoingFacts {
  const stackTrace = `    at hash (${file}:4:17)\n    at node:internal/timers:1:2`;
  const code = { functionName: 'hash', file, line: 4, column: 17, functionLine: 4, stackTrace };
  return { code, offsets: [offset, 3], callbacks: 1 } as unknown as OngoingFacts;
}

const withoutLine = (file: string) => ({
  functionName: 'hash',
  file,
  stackTrace: `    at hash (${file})\n    at node:internal/timers:1:2`,
});

test.each([
  ['TypeScript that a loader has compiled', ts, right - 9, false],
  ['JavaScript that a loader has compiled', js, right + 9, true],
])('%s has no line', (_what, file, offset, hasLoader) => {
  expect(withoutLoaderLines(factsOf(file, offset), hasLoader)).toEqual({
    ...factsOf(file, offset),
    code: withoutLine(file),
  });
});

test.each([
  ['TypeScript whose types Node.js has replaced by blanks', ts, right, false],
  ['JavaScript, with a loader', js, right, true],
  ['JavaScript in a wrapper, without a loader', js, right + 62, false],
])('%s keeps it', (_what, file, offset, hasLoader) => {
  const facts = factsOf(file, offset);
  expect(withoutLoaderLines(facts, hasLoader)).toEqual(facts);
});

test('only the caller is of a loader: only its line in the stack is left out', () => {
  const { code } = factsOf(js, right);
  const stackTrace = `${code?.stackTrace}\n    at main (${ts}:4:17)`;
  const facts = { code: { ...code, stackTrace }, offsets: [right, 3, 1] };
  expect(withoutLoaderLines(facts as unknown as OngoingFacts, false).code).toEqual({
    ...code,
    stackTrace: `${code?.stackTrace}\n    at main (${ts})`,
  });
});

test('without code there is nothing to leave out', () => {
  const facts = { callbacks: 1 } as OngoingFacts;
  expect(withoutLoaderLines(facts, true)).toBe(facts);
});
