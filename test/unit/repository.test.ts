/** The repository's address is said once, in package.json's `repository.url`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  isPlaceholder,
  linesOf,
  repositoryOf,
  withLines,
  withRepository,
} from '../../tools/repository.cjs';

const ROOT = join(__dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const manifest = JSON.parse(read('package.json'));
const address = repositoryOf(manifest) as string;
const ELSEWHERE = 'https://github.com/somebody/something';

test('package.json: homepage and bugs are made from repository.url', () => {
  expect(manifest).toEqual(withRepository(manifest, address));
});

test.each(Object.entries(linesOf(manifest)))('%s is made from package.json', (file, lines) => {
  expect(read(file)).toBe(withLines(read(file), lines));
});

test('another address is in all of them', () => {
  const moved = withRepository(manifest, ELSEWHERE);
  expect(repositoryOf(moved)).toBe(ELSEWHERE);
  const files = Object.entries(linesOf(moved)).map(([file, lines]) => withLines(read(file), lines));
  for (const text of [JSON.stringify(moved), ...files]) {
    expect(text).toContain(ELSEWHERE);
    expect(text).not.toContain(address);
  }
});

test.each([
  'github.com/somebody/something',
  'https://github.com/somebody',
  `${ELSEWHERE}.git`,
  `${ELSEWHERE}/`,
])('%s is refused', (url) => {
  expect(() => withRepository(manifest, url)).toThrow(
    new TypeError(`${url} is not like https://github.com/owner/name`),
  );
});

test('the placeholder is known as one', () => {
  expect(isPlaceholder('https://github.com/OWNER_NOT_SET/something')).toBe(true);
  expect(isPlaceholder(ELSEWHERE)).toBe(false);
});
