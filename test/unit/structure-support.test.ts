/**
 * What stands beside `src/` shares code by `tools/`, and by nothing else.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join, posix } from 'node:path';

const ROOT = join(__dirname, '../..');
const CODE = new Set(['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs']);
/** Of other packages, or made; and this file, which has examples of what it forbids. */
const NOT_OURS = new Set(['node_modules', 'dist', 'coverage', '.next', basename(__filename)]);

/**
 * What each folder may import by a path, beside itself. Packages, this one among them, have names.
 */
const MAY_IMPORT: Record<string, string[]> = {
  tools: [],
  bench: ['tools'],
  demo: ['tools'],
  deploy: ['tools'],
  examples: [],
  scripts: ['tools'],
  // Types, and functions of what the page's JSON has.
  page: [
    'src/types.ts',
    'src/support/numbers.ts',
    'src/core/emit/requests-text.ts',
    'src/core/explain/name/cpu-profile.ts',
    'src/core/explain/name/sampled-stacks.ts',
    'src/outputs/summary',
    'src/outputs/html-report/document.ts',
  ],
  'test/unit': ['tools', 'src', 'page', 'scripts', 'test/support'],
  'test/scenarios': ['tools', 'scripts', 'test/support'],
  'test/support': [],
  'test/browser': ['tools', 'src', 'page', 'test/scenarios'],
  'test/adopt': ['tools', 'test/matrix'],
  'test/compat': ['tools', 'test/scenarios', 'test/support', 'test/matrix'],
  'test/matrix': ['tools', 'test/scenarios'],
  'test/peers': ['tools', 'test/matrix'],
  'test/platforms': ['tools', 'test/matrix', 'test/support'],
  'test/stack': ['tools', 'test/matrix'],
};

/** A path after `from`, or in `import(…)`, `require(…)` or `require.resolve(…)`; of types, too. */
const IMPORTED_PATH = /\b(?:from|import|require(?:\.resolve)?)\s*\(?\s*['"](\.{1,2}\/[^'"]*)['"]/g;

const importedPaths = (code: string) =>
  [...code.matchAll(IMPORTED_PATH)].map(([, path = '']) => path);

function codeFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter(({ name }) => !NOT_OURS.has(name))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return codeFiles(path);
      return CODE.has(extname(path)) ? [path] : [];
    });
}

const isIn = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);

test.each(Object.entries(MAY_IMPORT))(
  '%s/ imports by path only itself and %j',
  (folder, others) => {
    const files = codeFiles(folder);
    expect(files.length).toBeGreaterThan(0);
    const strangers = files.flatMap((file) =>
      importedPaths(readFileSync(join(ROOT, file), 'utf8'))
        .map((path) => posix.join(posix.dirname(file), path))
        .filter((path) => ![folder, ...others].some((allowed) => isIn(path, allowed)))
        .map((path) => `${file}: ${path}`),
    );
    expect(strangers).toEqual([]);
  },
);

test('every folder with code is among them', () => {
  const known = Object.keys(MAY_IMPORT);
  const inTest = readdirSync(join(ROOT, 'test'), { withFileTypes: true }).map(
    ({ name }) => `test/${name}`,
  );
  const atTop = readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !/^(\.|src$|test$)/.test(entry.name))
    .filter(({ name }) => !NOT_OURS.has(name) && codeFiles(name).length > 0)
    .map(({ name }) => name);
  expect([...atTop, ...inTest].filter((folder) => !known.includes(folder))).toEqual([]);
});

/** What `tools/install.cjs` installs without a lock file. */
const INSTALLED = ['bench', 'bench/peers', 'bench/real-apps', 'test/matrix', 'test/compat/groups']
  .flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`))
  .flatMap((folder) => [folder, `${folder}/package`])
  .map((folder) => `${folder}/package.json`)
  .filter((file) => existsSync(join(ROOT, file)));

test.each(INSTALLED)('%s has exact versions, since there is no lock file', (file) => {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(
    readFileSync(join(ROOT, file), 'utf8'),
  ) as Record<string, Record<string, string>>;
  const versions = Object.entries({ ...dependencies, ...devDependencies });
  const EXACT = /^(?:npm:.+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/;
  expect(versions.length).toBeGreaterThan(0);
  expect(versions.filter(([, version]) => !EXACT.test(version))).toEqual([]);
});

/** A line with nothing else; a type may be one word that cannot be broken. */
const COMMENT = /^ *(?:\/\/|\/?\*)(?!.*@type(?:def)? \{)/;

test.each(Object.keys(MAY_IMPORT))('no comment in %s/ is longer than 100 columns', (folder) => {
  const long = codeFiles(folder).flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, i) => (line.length > 100 && COMMENT.test(line) ? [`${file}:${i + 1}`] : [])),
  );
  expect(long).toEqual([]);
});
