/** Code of a loader: its file has other text than what runs. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { LookUp } from '../../../src/report/code-describer.ts';
import type { SourcePositionList } from '../../../src/source-maps/position.ts';
import { lookUpWithoutMaps, SourcePositions } from '../../../src/source-maps/source-positions.ts';
import { makeFolder, removeFolders } from './support.ts';

const TEXT = 'interface Row {\r\n  id: number;\n}\nexport function hash(rows: Row[]) {\n}\n';
const { prepareStackTrace } = Error;
let file: string;
let scriptFile: string;

function makeFile(name: string, text: string): string {
  const made = path.join(makeFolder({}), name);
  writeFileSync(made, text);
  return made;
}

beforeAll(() => {
  file = makeFile('app.ts', `\ufeff${TEXT}`);
  scriptFile = makeFile('app.js', TEXT);
});
afterEach(() => {
  Error.prepareStackTrace = prepareStackTrace as NonNullable<typeof Error.prepareStackTrace>;
});
afterAll(removeFolders);

type Found = SourcePositionList[number] | 'asks the thread';

function lookup(offset: number | undefined, ofFile = file, lookUp?: LookUp): Found {
  const positions = new SourcePositions({ log: jest.fn() });
  let found: Found = 'asks the thread';
  const ask: LookUp = lookUp ?? ((asked, done) => positions.lookup(asked, done));
  ask([{ file: ofFile, line: 4, column: 17, offset }], ([first]) => {
    found = first;
  });
  const answer = found;
  positions.stop();
  return answer;
}

const offset = TEXT.indexOf('hash');
const withoutLine = { file: '', line: undefined, column: undefined };

const moves20Lines = (_error: unknown, sites: NodeJS.CallSite[]) =>
  `Error${sites.map((site) => `\n    at f (${site.getFileName()}:${(site.getLineNumber() ?? 0) + 20}:3)`).join('')}`;

test('the text is what runs: the position is right, also of code whose types are blanks', () => {
  const prepare = jest.fn(moves20Lines);
  Error.prepareStackTrace = prepare;
  expect(lookup(offset)).toBeUndefined();
  expect(prepare).not.toHaveBeenCalled();
});

test('it is not: the position is where the loader says', () => {
  Error.prepareStackTrace = moves20Lines;
  expect(lookup(offset - 9)).toEqual({ file, line: 24, column: 3 });
});

test('the loader is asked once for all positions of a block, and never again for them', () => {
  const prepare = jest.fn(moves20Lines);
  Error.prepareStackTrace = prepare;
  const positions = new SourcePositions({ log: jest.fn() });
  const asked = Array.from({ length: 20 }, (_, i) => ({ file, line: i + 1, column: 1, offset: 1 }));
  const lines: unknown[] = [];
  for (let i = 0; i < 2; i++)
    positions.lookup(asked, (found) => lines.push(...found.map((each) => each?.line)));
  positions.stop();
  expect(lines).toEqual([...asked, ...asked].map(({ line }) => line + 20));
  expect(prepare).toHaveBeenCalledTimes(1);
});

test('source-map-support copies the methods of the prototype of a call site', () => {
  Error.prepareStackTrace = (_error, sites) => {
    const copies = sites.map((site) => {
      const names = Object.getOwnPropertyNames(Object.getPrototypeOf(site));
      const of = site as unknown as Record<string, () => unknown>;
      return Object.fromEntries(names.map((name) => [name, () => of[name]?.()]));
    });
    return moves20Lines(_error, copies as unknown as NodeJS.CallSite[]);
  };
  expect(lookup(offset - 9)).toEqual({ file, line: 24, column: 3 });
});

describe.each([
  ['has no map of it', (_error: unknown, [site]: NodeJS.CallSite[]) => `Error\n    at ${site}`],
  [
    'throws',
    () => {
      throw new Error('broken');
    },
  ],
  ['answers with something else', (_error: unknown, sites: NodeJS.CallSite[]) => sites],
  ['answers with fewer lines', () => 'Error'],
])('it is not, and the loader %s', (_what, prepare) => {
  beforeEach(() => {
    Error.prepareStackTrace = prepare;
  });

  test('TypeScript has no line', () => {
    expect(lookup(offset - 9)).toEqual({ ...withoutLine, file });
    expect(lookup(offset - 9, `file://${file}`)).toEqual({ ...withoutLine, file });
  });

  test('JavaScript keeps its line: it may only stand in a wrapper', () => {
    expect(lookup(offset + 62, scriptFile)).toBeUndefined();
  });
});

test.each([
  ['a folder', () => path.dirname(file)],
  ['too large', () => makeFile('large.ts', `${TEXT}${' '.repeat(1024 * 1024)}`)],
])('a TypeScript file that is %s has no line', (_what, fileOf) => {
  const its = fileOf();
  const named = its.endsWith('.ts') ? its : `${its}/../${path.basename(its)}.ts`;
  expect(lookup(offset - 9, named)).toEqual({ ...withoutLine, file: named });
});

describe('sourceMaps: false', () => {
  beforeEach(() => {
    Error.prepareStackTrace = moves20Lines;
  });

  test('code of a loader has no line', () => {
    expect(lookup(offset - 9, file, lookUpWithoutMaps())).toEqual({ ...withoutLine, file });
    expect(lookup(offset - 9, scriptFile, lookUpWithoutMaps())).toMatchObject({ line: undefined });
  });

  test('other code keeps it', () => {
    expect(lookup(offset, file, lookUpWithoutMaps())).toBeUndefined();
    expect(lookup(offset, scriptFile, lookUpWithoutMaps())).toBeUndefined();
  });
});
