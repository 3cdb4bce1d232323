/** The comment of a file that names its source map. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { mapOf, mayHaveMap } from '../../../src/source-maps/map-of.ts';
import { makeFolder, removeFolders } from './support.ts';

afterAll(removeFolders);

const NAMES = ['main.js.map', 'old.map', 'block.map', 'last.map'];
const folder = makeFolder(Object.fromEntries(NAMES.map((name) => [name, '{}'])));
const inFolder = (name: string) => path.join(folder, name);

test.each([
  ['let a;', false],
  ['let a = "sourceMappingURL=old.map";', false],
  ['//# sourceMappingURL=', false],
  ['//# sourceMappingURL=not-there.map', true],
  ['//# sourceMappingURL=http://127.0.0.1:1/old.map', true],
  [`//# sourceMappingURL=${inFolder('old.map')}`, true],
])('none in %j', async (code, isNamed) => {
  const file = inFolder('y.js');
  writeFileSync(file, code);
  expect(mapOf(file, code)).toBeUndefined();
  // Only the thread looks for the file that the comment names.
  expect(await mayHaveMap(file)).toBe(isNamed);
});

const json = JSON.stringify({ sources: ['ä.ts'], mappings: 'AAAA', pad: 'x'.repeat(700_000) });
const base64 = Buffer.from(json).toString('base64');
test.each([
  ['base64', `data:application/json;base64,${base64}`],
  ['base64 with a charset', `data:application/json;charset=utf-8;base64,${base64}`],
  ['text', `data:application/json,${encodeURIComponent(json)}`],
])('a map in the code: %s', async (_name, url) => {
  const file = inFolder('z.js');
  const code = `let a;\n//# sourceMappingURL=${url}\n`;
  writeFileSync(file, code);
  expect(mapOf(file, code)).toEqual({ file, inline: json });
  expect(await mayHaveMap(file)).toBe(true);
});
