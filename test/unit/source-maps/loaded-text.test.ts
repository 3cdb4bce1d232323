/** Code of a loader: its file has other text than what runs. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { SourcePositionList } from '../../../src/source-maps/position.ts';
import { SourcePositions } from '../../../src/source-maps/source-positions.ts';
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

async function lookup(offset: number | undefined, ofFile = file, isOff = false) {
  const positions = new SourcePositions({ log: jest.fn() }, { isOff });
  const position = { file: ofFile, line: 4, column: 17, offset };
  const found = new Promise<SourcePositionList>((resolve) => positions.lookup([position], resolve));
  const [first] = await found;
  positions.stop();
  return first;
}

const offset = TEXT.indexOf('hash');
const withoutLine = { file: '', line: undefined, column: undefined };

const moves20Lines = (_error: unknown, sites: NodeJS.CallSite[]) =>
  `Error${sites.map((site) => `\n    at f (${site.getFileName()}:${(site.getLineNumber() ?? 0) + 20}:3)`).join('')}`;

test('it is not: the position is where the loader says', async () => {
  Error.prepareStackTrace = moves20Lines;
  expect(await lookup(offset - 9)).toEqual({ file, line: 24, column: 3 });
});

test('the loader is asked once for all positions of a block, and never again for them', async () => {
  const prepare = jest.fn(moves20Lines);
  Error.prepareStackTrace = prepare;
  const positions = new SourcePositions({ log: jest.fn() });
  const asked = Array.from({ length: 20 }, (_, i) => ({ file, line: i + 1, column: 1, offset: 1 }));
  const lines: unknown[] = [];
  for (let i = 0; i < 2; i++) {
    positions.lookup(asked, (found) => lines.push(...found.map((each) => each?.line)));
    await positions.settled();
  }
  positions.stop();
  expect(lines).toEqual([...asked, ...asked].map(({ line }) => line + 20));
  expect(prepare).toHaveBeenCalledTimes(1);
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

  test('TypeScript has no line', async () => {
    expect(await lookup(offset - 9)).toEqual({ ...withoutLine, file });
    expect(await lookup(offset - 9, `file://${file}`)).toEqual({ ...withoutLine, file });
  });
});

describe('sourceMaps: false', () => {
  beforeEach(() => {
    Error.prepareStackTrace = moves20Lines;
  });

  test('code of a loader has no line', async () => {
    expect(await lookup(offset - 9, file, true)).toEqual({ ...withoutLine, file });
    expect(await lookup(offset - 9, scriptFile, true)).toMatchObject({ line: undefined });
  });

  test('other code keeps it', async () => {
    expect(await lookup(offset, file, true)).toBeUndefined();
    expect(await lookup(offset, scriptFile, true)).toBeUndefined();
  });
});
