/** The comment of a file that names its source map. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { mapOf } from '../../../src/core/explain/source-maps/map-of.ts';
import { makeFolder, removeFolders } from './support.ts';

afterAll(removeFolders);

const NAMES = ['main.js.map', 'old.map', 'block.map', 'last.map'];
const folder = makeFolder(Object.fromEntries(NAMES.map((name) => [name, '{}'])));
const inFolder = (name: string) => path.join(folder, name);

test.each([
  'let a;',
  'let a = "sourceMappingURL=old.map";',
  '//# sourceMappingURL=',
  '//# sourceMappingURL=not-there.map',
  '//# sourceMappingURL=http://127.0.0.1:1/old.map',
  `//# sourceMappingURL=${inFolder('old.map')}`,
])('none in %j', (code) => {
  const file = inFolder('y.js');
  writeFileSync(file, code);
  expect(mapOf(file, code)).toBeUndefined();
});

const json = JSON.stringify({ sources: ['ä.ts'], mappings: 'AAAA', pad: 'x'.repeat(700_000) });
const base64 = Buffer.from(json).toString('base64');
test.each([
  ['base64', `data:application/json;base64,${base64}`],
  ['base64 with a charset', `data:application/json;charset=utf-8;base64,${base64}`],
  ['text', `data:application/json,${encodeURIComponent(json)}`],
])('a map in the code: %s', (_name, url) => {
  const file = inFolder('z.js');
  const code = `let a;\n//# sourceMappingURL=${url}\n`;
  writeFileSync(file, code);
  expect(mapOf(file, code)).toEqual({ file, inline: json });
});
