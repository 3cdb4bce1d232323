/**
 * The application of the benchmark `truth`: its labels and its packages are complete. It is read,
 * not run: its packages may not be installed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';

const FOLDER = join(__dirname, '../../bench/truth/package');
const json = (file: string) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));
const modules = readdirSync(join(FOLDER, 'lib')).map((name) => ({
  name,
  text: readFileSync(join(FOLDER, 'lib', name), 'utf8'),
}));

/** One blocker: a property of what a module exports. */
const LABEL = /^ {2}(?:'([^']+)'|(\w+)): \{(.*|(?:\n {4}.*)+\n {2})\},$/gm;
const blockers = modules.flatMap(({ name: file, text }) => {
  const exported = text.slice(text.indexOf('module.exports = {'));
  const found = exported.startsWith('module.exports') ? [...exported.matchAll(LABEL)] : [];
  return found.map(([, quoted, plain, body = '']) => ({
    file,
    text,
    label: quoted ?? plain,
    body,
  }));
});
const required = (text: string) =>
  [...text.matchAll(/require\('([^'.][^']*)'\)/g)]
    .map(([, name = '']) => name)
    .filter((name) => !name.startsWith('node:'))
    .map((name) =>
      name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/'),
    );

test('there are as many blockers as are promised, most of them with packages', () => {
  expect(blockers.length).toBeGreaterThanOrEqual(80);
  const withPackages = blockers.filter(({ text }) => required(text).length > 0);
  expect(withPackages.length).toBeGreaterThanOrEqual(45);
  expect(new Set(blockers.map(({ label }) => label)).size).toBe(blockers.length);
});

test.each(blockers.map((each) => [each.label, each] as const))(
  '%s says which place is to be changed, and how it is run',
  (label, { body, text }) => {
    expect(body).toMatch(/\bchange: /);
    expect(body).toMatch(/\bmake: /);
    expect(text.includes(`<- the line of '${label}'`)).toBe(body.includes('line: true'));
  },
);

test('every package is in the list, and is used', () => {
  const { dependencies } = json('package.json');
  const used = new Set(modules.flatMap(({ text }) => required(text)));
  expect(builtinModules.filter((name) => used.has(name))).toEqual([]);
  expect([...used].sort()).toEqual(Object.keys(dependencies).sort());
});
