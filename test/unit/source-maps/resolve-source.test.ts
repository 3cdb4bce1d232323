/** The path of a source is one that an editor opens. */
import path from 'node:path';
import { resolveSource } from '../../../src/core/explain/source-maps/resolve-source.ts';

// The paths in here are those of POSIX, wherever the tests run.
jest.mock('node:path', () => jest.requireActual<typeof import('node:path')>('node:path').posix);

const FILES = new Set([
  '/app/src/x.ts',
  '/app/lib/data.js',
  '/mono/packages/util/src/y.ts',
  path.resolve('only-in-cwd.ts'),
  '/abs/z.ts',
  '/app/app/[slug]/page.tsx',
  '/app/src/100%25.ts',
]);
const exists = (file: string) => FILES.has(file);

test.each([
  // Relative to the map.
  ['../src/x.ts', '/app/dist', '/app/src/x.ts'],
  ['../src/gone.ts', '/app/dist', '/app/src/gone.ts'],
  ['/abs/any.ts', '/app/dist', '/abs/any.ts'],
  // Counted from elsewhere: too many folders up.
  ['../../../../lib/data.js', '/app/.next/server/chunks', '/app/lib/data.js'],
  ['../../../../lib/data.js', '/app/.next/server/chunks/ssr', '/app/lib/data.js'],
  ['../../../../lib/gone.js', '/app/.next/server/chunks/ssr', '/app/lib/gone.js'],
  // URLs.
  ['file:///app/src/x.ts', '/app/dist', '/app/src/x.ts'],
  ['file:///app/src/a%20b.ts', '/app/dist', '/app/src/a b.ts'],
  ['https://example.com/x.ts', '/app/dist', 'https://example.com/x.ts'],
  // Written as in a URL.
  ['../../app/%5Bslug%5D/page.tsx', '/app/.next/server', '/app/app/[slug]/page.tsx'],
  ['../../node_modules/%40swc/gone.js', '/app/.next/server', '/app/node_modules/@swc/gone.js'],
  ['turbopack:///[project]/app/%5Bslug%5D/page.tsx', '/app/.next', '/app/app/[slug]/page.tsx'],
  ['../src/100%25.ts', '/app/dist', '/app/src/100%25.ts'],
  ['../src/100%.ts', '/app/dist', '/app/src/100%.ts'],
  // webpack.
  ['webpack://app/./src/x.ts', '/app/dist', '/app/src/x.ts'],
  ['webpack:///./src/x.ts', '/app/dist', '/app/src/x.ts'],
  ['webpack:///src/x.ts?1a2b', '/app/dist', '/app/src/x.ts'],
  ['webpack://app/./node_modules/ts-loader/index.js!./src/x.ts', '/app/dist', '/app/src/x.ts'],
  ['webpack://@scope/app/./src/x.ts', '/app/dist', '/app/src/x.ts'],
  ['webpack://app/../util/src/y.ts', '/mono/packages/app/dist', '/mono/packages/util/src/y.ts'],
  ['webpack:///abs/z.ts', '/app/dist', '/abs/z.ts'],
  ['webpack://app/./only-in-cwd.ts', '/app/dist', path.resolve('only-in-cwd.ts')],
  ['webpack://app/./src/gone.ts', '/app/dist', 'src/gone.ts'],
  ['webpack://app/./src/gone.ts?1a2b', '/app/dist', 'src/gone.ts'],
  ['webpack:///../util/src/gone.ts', '/app/dist', 'util/src/gone.ts'],
  [
    'webpack://app/webpack/runtime/define property getters',
    '/app/dist',
    'webpack/runtime/define property getters',
  ],
  // Next.js.
  ['webpack://_N_E/./lib/data.js', '/app/.next/server/app/page', '/app/lib/data.js'],
  ['webpack-internal:///(rsc)/./lib/data.js', '/app/.next/server', '/app/lib/data.js'],
  ['turbopack:///[project]/lib/data.js', '/app/.next/server/chunks', '/app/lib/data.js'],
  ['turbopack://[project]/lib/data.js', '/app/.next/server/chunks', '/app/lib/data.js'],
  ['turbopack:///[project]/lib/gone.js', '/app/.next/server/chunks', 'lib/gone.js'],
  ['turbopack:///[turbopack]/runtime.ts', '/app/.next/server', '[turbopack]/runtime.ts'],
  ['webpack://', '/app/dist', 'webpack://'],
])('%s in %s', (source, mapFolder, expected) => {
  expect(resolveSource(source, mapFolder, exists)).toBe(expected);
});

test('nothing is searched for below the root of the file system', () => {
  expect(resolveSource('webpack://app/./etc/hosts', '/app', (file) => file === '/etc/hosts')).toBe(
    'etc/hosts',
  );
});
