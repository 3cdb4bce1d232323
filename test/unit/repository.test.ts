/** The repository's address is said once, in package.json's `repository.url`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesOf, isPlaceholder, repositoryOf, withRepository } from '../../tools/repository.cjs';

const ROOT = join(__dirname, '../..');
/** Git on Windows may write CRLF. */
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8').replaceAll('\r\n', '\n');
const manifest = JSON.parse(read('package.json'));
const address = repositoryOf(manifest) as string;
const ELSEWHERE = 'https://github.com/somebody/something';

test('package.json: homepage and bugs are made from repository.url', () => {
  expect(manifest).toEqual(withRepository(manifest, address));
});

test.each(Object.entries(filesOf(manifest, read)))('%s is made from package.json', (file, text) => {
  expect(read(file)).toBe(text);
});

test('another address is in all of them', () => {
  const moved = withRepository(manifest, ELSEWHERE);
  expect(repositoryOf(moved)).toBe(ELSEWHERE);
  for (const text of [JSON.stringify(moved), ...Object.values(filesOf(moved, read))]) {
    expect(text).toContain(ELSEWHERE);
    expect(text).not.toContain(address);
  }
  const again = (path: string) => filesOf(moved, read)[path] as string;
  expect(filesOf(moved, again)).toEqual(filesOf(moved, read));
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
