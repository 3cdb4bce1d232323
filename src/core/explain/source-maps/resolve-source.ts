/**
 * From a source as its map names it to a path that an editor opens. In this order:
 *
 * 1. A URL of `https:` stays as it is, one of `file:` is its path.
 * 2. A name without a scheme is relative to the map's folder. If there is no such file, it is
 *    looked for without its parents: some bundlers count the folders from elsewhere.
 * 3. A bundler's name (`webpack://name/./src/x.ts`, `turbopack:///[project]/src/x.ts`) is looked
 *    for without what the bundler adds; if there is no such file, it is what remains of the name.
 * 4. If there is no file, the same for the name decoded: Turbopack writes names as in a URL
 *    (`app/%5Bslug%5D/page.tsx`).
 */
import path from 'node:path';
import { boundedFile, isLongFile } from '../../../support/bounded.ts';
import { toPath } from '../../../support/file-url.ts';
import { isFile } from '../../../support/files.ts';
import { attempt } from '../../../support/guard.ts';

/** Folders above the map in which a source may be that a bundler has given a name of its own. */
const MAX_FOLDERS = 12;
/** Two characters at least: a drive's letter is no scheme. */
const SCHEME = /^[a-z][\w+.-]+:/i;

const isThere = (file: string) => attempt(() => isFile(file)) ?? false;

export function resolveSource(source: string, mapFolder: string, exists = isThere): string {
  if (isLongFile(source)) return boundedFile(source);
  if (/^https?:/i.test(source)) return source;
  if (/^file:/i.test(source)) return toPath(source.replace(/^file:\/*/i, 'file:///'));
  const asItIs = candidatesFor(source, mapFolder);
  const decoded = candidatesFor(attempt(() => decodeURIComponent(source)) ?? source, mapFolder);
  return [...asItIs.paths, ...decoded.paths].find((file) => exists(file)) ?? decoded.name;
}

/** `sourceRoot` stands before what is relative to it. */
export function withRoot(root: string, source: string): string {
  if (root === '' || source.startsWith('/') || SCHEME.test(source)) return source;
  return root.endsWith('/') ? root + source : `${root}/${source}`;
}

/** Where the source may be, and its name if it is nowhere. */
function candidatesFor(source: string, mapFolder: string): { paths: string[]; name: string } {
  const [scheme] = SCHEME.exec(source) ?? [];
  if (scheme === undefined) {
    const name = path.resolve(mapFolder, source);
    const isExact = path.isAbsolute(source);
    return { paths: [name, ...(isExact ? [] : around(mapFolder, withoutParents(source)))], name };
  }
  const rest = source.slice(scheme.length);
  // `?1a2b` distinguishes what has the same name, and loaders stand in front:
  // `./loader.js!./src/x.ts`.
  const file = rest.replace(/\?[^/]*$/, '').replace(/^\/*(?:.*!\/*)?/, '');
  const hasHost = /^\/\/[^/]/.test(rest);
  // The host is the name of a package, which may have a scope.
  const names = (hasHost ? [file.replace(/^(?:@[^/]*\/)?[^/]*\//, ''), file] : [file]).map(
    withoutLayer,
  );
  const paths = names.flatMap((name) => around(mapFolder, name));
  const [first = ''] = names;
  return {
    paths: hasHost ? paths : [...paths, path.resolve(`/${file}`)],
    name: withoutParents(first) || source,
  };
}

/** `(rsc)/./lib/x.ts` of Next.js, `[project]/lib/x.ts` of Turbopack. */
const withoutLayer = (name: string) =>
  name.replace(/^(?:\([\w-]+\)|\[(?:project|root[\w-]*)\])\//, '');

/** Without `.` and without `..` in front: `src/x.ts`. */
function withoutParents(name: string): string {
  const normal = path.posix.normalize(name.replaceAll('\\', '/'));
  return normal.replace(/^(?:\.\.\/)+/, '').replace(/^\.\/?$/, '');
}

/** Below the map's folder, one of those above it, or the working directory: the nearest first. */
function around(mapFolder: string, name: string): string[] {
  if (name === '') return [];
  const paths: string[] = [];
  // Not the root of the file system: nothing that belongs together lies right below it.
  for (let folder = mapFolder; paths.length < MAX_FOLDERS; folder = path.dirname(folder)) {
    if (folder === path.dirname(folder)) break;
    paths.push(path.resolve(folder, name));
  }
  return [...paths, path.resolve(name)];
}
