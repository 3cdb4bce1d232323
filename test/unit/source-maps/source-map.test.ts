/** Source maps as esbuild writes them, and malformed ones. */
import { readFileSync } from 'node:fs';
import { SourceMap as SourceMapOfNode } from 'node:module';
import { findMapReference } from '../../../src/source-maps/map-comment.ts';
import { SourceMap, TooLarge } from '../../../src/source-maps/source-map.ts';
import { buildApp, makeFolder, placeOf, removeFolders, SOURCES } from './support.ts';

afterAll(removeFolders);

const open = (map: unknown) => new SourceMap(Buffer.from(JSON.stringify(map)));

function built(options: Parameters<typeof buildApp>[1] = {}) {
  const file = buildApp(makeFolder(), options);
  return { code: readFileSync(file, 'utf8'), bytes: readFileSync(`${file}.map`) };
}

describe.each([
  ['minified', {}],
  ['as it is', { minify: false }],
] as const)('a bundle, %s', (_name, options) => {
  const { code, bytes } = built(options);
  const map = new SourceMap(bytes);

  test.each([
    ['MARK-main', 'src/main.ts'],
    ['MARK-report', 'src/report.ts'],
    ['MARK-sum', 'src/lib/sum.ts'],
    // After characters of two UTF-16 units in the same line.
    ['MARK-late', 'src/lib/sum.ts'],
  ] as const)('%s is where it was written', (mark, source) => {
    const { line, column } = placeOf(code, mark);
    const quote = 1;
    const expected = placeOf(SOURCES[source], mark);
    expect(map.positionOf(line, column - quote)).toEqual({
      source: `../${source}`,
      line: expected.line,
      column: expected.column - quote,
    });
  });

  test('each position is what Node.js makes of it', () => {
    const byNode = new SourceMapOfNode(JSON.parse(bytes.toString()));
    let compared = 0;
    code.split('\n').forEach((text, line) => {
      for (let column = 0; column <= text.length; column++) {
        const entry = byNode.findEntry(line, column);
        const position = map.positionOf(line + 1, column + 1);
        // Node.js also answers with the last position of a line before it.
        if (!('originalSource' in entry) || entry.generatedLine !== line) {
          expect(position).toBeUndefined();
          continue;
        }
        compared++;
        expect(position).toEqual({
          source: entry.originalSource,
          line: entry.originalLine + 1,
          column: entry.originalColumn + 1,
        });
      }
    });
    expect(compared).toBeGreaterThan(200);
  });
});

test('a large map: what is between two states that are kept', () => {
  const lines = Array.from({ length: 3000 }, (_, i) => `console.log(${i}, [${i} + 1], 'a');`);
  const folder = makeFolder({ 'src/main.ts': lines.join('\n') });
  const file = buildApp(folder);
  const bytes = readFileSync(`${file}.map`);
  const map = new SourceMap(bytes);
  const code = readFileSync(file, 'utf8');
  for (const i of [0, 1, 17, 500, 1234, 2998, 2999]) {
    const { line, column } = placeOf(code, `console.log(${i},`);
    expect(map.positionOf(line, column)).toEqual({
      source: '../src/main.ts',
      line: i + 1,
      column: 1,
    });
  }
  expect(map.byteLength).toBeLessThan(bytes.length);
});

test('columns that do not ascend', () => {
  // Segments at the columns 10, 0 and 5.
  const map = open({ version: 3, sources: ['a.ts'], names: [], mappings: 'UAAA,VACA,KACA' });
  expect(map.positionOf(1, 1)).toMatchObject({ line: 2 });
  expect(map.positionOf(1, 8)).toMatchObject({ line: 3 });
  expect(map.positionOf(1, 20)).toMatchObject({ line: 1 });
});

test('a segment without a source ends the one before it', () => {
  const map = open({ version: 3, sources: ['a.ts'], names: [], mappings: 'AAAA,K' });
  expect(map.positionOf(1, 5)).toMatchObject({ line: 1 });
  expect(map.positionOf(1, 6)).toBeUndefined();
});

test('nothing is said about a line without segments', () => {
  const map = open({ version: 3, sources: ['a.ts'], names: [], mappings: 'AAAA;;AACA' });
  expect(map.positionOf(2, 1)).toBeUndefined();
  expect(map.positionOf(3, 1)).toMatchObject({ line: 2 });
  expect(map.positionOf(4, 1)).toBeUndefined();
  expect(map.positionOf(0, 0)).toBeUndefined();
});

test('an indexed map', () => {
  const section = (line: number, column: number, source: string) => ({
    offset: { line, column },
    map: {
      version: 3,
      sources: [source],
      names: ['old'],
      mappings: 'AAAAA,KAAK;AACA',
      sourcesContent: ['}{"]'],
    },
  });
  const payload = {
    version: 3,
    sections: [section(1, 4, 'a.ts'), section(2, 10, 'b.ts'), section(5, 0, 'c.ts')],
  };
  const map = open(payload);
  // Before the first section.
  expect(map.positionOf(1, 1)).toBeUndefined();
  expect(map.positionOf(2, 4)).toBeUndefined();
  // The offset's column counts in the section's first line only.
  expect(map.positionOf(2, 5)).toEqual({ source: 'a.ts', line: 1, column: 1 });
  expect(map.positionOf(2, 10)).toEqual({ source: 'a.ts', line: 1, column: 6 });
  expect(map.positionOf(3, 1)).toEqual({ source: 'a.ts', line: 2, column: 6 });
  expect(map.positionOf(3, 10)).toEqual({ source: 'a.ts', line: 2, column: 6 });
  expect(map.positionOf(3, 11)).toEqual({ source: 'b.ts', line: 1, column: 1 });
  expect(map.positionOf(6, 1)).toEqual({ source: 'c.ts', line: 1, column: 1 });
  expect(map.positionOf(7, 3)).toEqual({ source: 'c.ts', line: 2, column: 6 });
  expect(map.positionOf(8, 1)).toBeUndefined();
  expect(map.nameAt(3, 11)).toBe('old');
  expect(map.nameAt(3, 12)).toBeUndefined();

  const byNode = new SourceMapOfNode(payload as never);
  expect(byNode.findEntry(2, 10)).toMatchObject({ originalSource: 'b.ts', originalLine: 0 });
});

test.each([
  ['text that looks like the field', ['a = {"sourcesContent": ["]"]}', null, '\\\\']],
  ['no list', 'sourcesContent'],
  ['nothing', []],
])('the contents of the sources are left out: %s', (_name, sourcesContent) => {
  const map = {
    version: 3,
    sourcesContent,
    sources: ['a.ts'],
    names: ['sourcesContent', 'mappings'],
  };
  const opened = open({ ...map, mappings: 'AAAAA' });
  expect(opened.positionOf(1, 1)).toEqual({ source: 'a.ts', line: 1, column: 1 });
  expect(opened.nameAt(1, 1)).toBe('sourcesContent');
  const [large, small] = ['x'.repeat(10_000), ''].map((text) => {
    return open({ sourcesContent: [text], sources: ['a.ts'], mappings: 'AAAA' }).byteLength;
  });
  expect(large).toBe(small);
});

describe('what would not fit into the heap of the thread is refused', () => {
  const large = ' '.repeat(8 * 1024 * 1024);
  const offset = { line: 0, column: 0 };

  test.each<[string, object]>([
    ['names', { sources: ['a.ts'], names: [large], mappings: 'AAAA' }],
    ['fields that nobody needs', { sources: ['a.ts'], x_large: large, mappings: 'AAAA' }],
    ['sections', { sections: Array(300_000).fill({ offset }) }],
    ['sections with mappings', { sections: Array(150_000).fill({ map: { mappings: '' } }) }],
  ])('%s', (_name, map) => {
    expect(() => open(map)).toThrow(TooLarge);
  });

  test('not for contents and mappings', () => {
    const mappings = 'AAAA;'.repeat(1024 * 1024 * 2);
    const map = open({ sources: ['a.ts'], sourcesContent: [large], mappings });
    expect(map.positionOf(1024 * 1024, 1)).toEqual({ source: 'a.ts', line: 1, column: 1 });
  });

  test('a segment with too many numbers is broken', () => {
    expect(() => open({ sources: [], mappings: 'A'.repeat(100_000) })).toThrow(SyntaxError);
  });
});

test('a broken section leaves the others', () => {
  const map = open({
    version: 3,
    sections: [
      { offset: { line: 0, column: 0 }, map: { version: 3, sources: ['a.ts'], mappings: '!' } },
      { offset: { line: 1, column: 0 }, map: { version: 3, sources: ['b.ts'], mappings: 'AAAA' } },
      { offset: { line: 2, column: 0 }, url: 'http://127.0.0.1:1/other.map' },
    ],
  });
  expect(map.positionOf(1, 1)).toBeUndefined();
  expect(map.positionOf(2, 1)).toMatchObject({ source: 'b.ts' });
  expect(map.positionOf(3, 1)).toBeUndefined();
});

test('sourceRoot stands before what is relative to it', () => {
  const sources = ['x.ts', '/abs/y.ts', 'webpack://app/./z.ts'];
  const map = open({
    version: 3,
    sourceRoot: '/root/src',
    sources,
    names: [],
    mappings: 'AAAA;ACAA;ACAA',
  });
  expect([1, 2, 3].map((line) => map.positionOf(line, 1)?.source)).toEqual([
    '/root/src/x.ts',
    '/abs/y.ts',
    'webpack://app/./z.ts',
  ]);
});

test.each([
  ['a source that is not there', { sources: ['a.ts'], mappings: 'ACAA' }],
  ['a negative source', { sources: ['a.ts'], mappings: 'ADAA' }],
  ['a negative line', { sources: ['a.ts'], mappings: 'AADA' }],
  ['a negative column', { sources: ['a.ts'], mappings: 'AAAD' }],
  ['a source that is null', { sources: [null], mappings: 'AAAA' }],
  ['a source without a name', { sources: [''], mappings: 'AAAA' }],
])('a map that is wrong about a position: %s', (_name, map) => {
  expect(open({ version: 3, names: [], ...map }).positionOf(1, 1)).toBeUndefined();
});

test.each([
  ['nothing', ''],
  ['text', 'not json'],
  ['a number', '3'],
  ['no mappings', '{"version":3,"sources":[]}'],
  ['mappings that are a number', '{"version":3,"sources":[],"mappings":3}'],
  ['sources that are no list', '{"version":3,"sources":"a","mappings":"AAAA"}'],
  ['a character that is none', '{"version":3,"sources":[],"mappings":"AA€A"}'],
  ['a number that never ends', '{"version":3,"sources":[],"mappings":"gggggggggggggA"}'],
  ['a number without an end', '{"version":3,"sources":[],"mappings":"AAAg"}'],
  ['half a file', '{"version":3,"sources":["a.ts"],"sourcesContent":["let a'],
  ['half a file, later', '{"version":3,"sources":["a.ts"],"mappings":"AAAA"'],
  ['sections without an offset', '{"version":3,"sections":[{"map":{}}]}'],
  ['brackets that do not match', '{"version":3,"sources":[}'],
])('not a map: %s', (_name, text) => {
  expect(() => new SourceMap(Buffer.from(text))).toThrow(SyntaxError);
});

test('what JSON allows', () => {
  const text = `\ufeff)]}'\n { "sources" : [ "a\\\\\\".ts" ] ,"x":[{"mappings":"no"},[],{},-1.5e3,null,true],
    "mappings":"AAAA;\\/\\/AAAA", "names" : [] }`;
  expect(new SourceMap(Buffer.from(text.replace(';\\/\\/AAAA', ''))).positionOf(1, 1)).toEqual({
    source: 'a\\".ts',
    line: 1,
    column: 1,
  });
  // `/` is a digit of mappings: 63.
  const slash = new SourceMap(Buffer.from('{"sources":["a.ts"],"mappings":"A\\/\\/BAA"}'));
  const plain = new SourceMap(Buffer.from('{"sources":["a.ts"],"mappings":"A//BAA"}'));
  expect(slash.positionOf(1, 1)).toEqual(plain.positionOf(1, 1));
});

describe('the comment', () => {
  const reference = (code: string) => findMapReference(Buffer.from(code));

  test.each([
    ['let a;\n//# sourceMappingURL=main.js.map', 'main.js.map'],
    ['let a;\n//# sourceMappingURL=main.js.map\n\n', 'main.js.map'],
    ['let a;\r\n//# sourceMappingURL=main.js.map\r\n', 'main.js.map'],
    ['let a;\n//@ sourceMappingURL=old.map', 'old.map'],
    ['let a;\n/*# sourceMappingURL=block.map */', 'block.map'],
    ['//# sourceMappingURL=first.map\n//# sourceMappingURL=last.map', 'last.map'],
    ['let a = "//# sourceMappingURL=" + b;\n//# sourceMappingURL=main.js.map', 'main.js.map'],
    ['//# sourceMappingURL=main.js.map\nlet a = `//# sourceMappingURL=`;', 'main.js.map'],
    ['//# sourceMappingURL=http://127.0.0.1:1/main.js.map', 'http://127.0.0.1:1/main.js.map'],
  ])('%j', (code, url) => {
    expect(reference(code)).toEqual({ url });
  });

  test.each([
    'let a;',
    'let a = "sourceMappingURL=x.map";',
    '//# sourceMappingURL=',
    '//# sourceMappingURL=data:text/plain;base64,AAAA',
  ])('none in %j', (code) => {
    expect(reference(code)).toEqual({});
  });

  test('code that writes such a comment has no map', () => {
    const code = 'c.push("/*# sourceMappingURL=data:application/json;base64,".concat(x, " */")';
    const { inline = Buffer.from('') } = reference(code);
    expect(() => new SourceMap(inline)).toThrow(SyntaxError);
  });

  const json = JSON.stringify({ sources: ['ä.ts'], mappings: 'AAAA', pad: 'x'.repeat(700_000) });
  const base64 = Buffer.from(json).toString('base64');
  test.each([
    ['base64', `data:application/json;base64,${base64}`],
    ['base64 with a charset', `data:application/json;charset=utf-8;base64,${base64}`],
    ['text', `data:application/json,${encodeURIComponent(json)}`],
  ])('a map in the code: %s', (_name, url) => {
    const { inline } = reference(`let a;\n//# sourceMappingURL=${url}\n`);
    expect(inline?.toString()).toBe(json);
  });
});
