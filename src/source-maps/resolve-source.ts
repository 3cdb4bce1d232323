/**
 * From a source as its map names it to a path that an editor opens. In this order:
 *
 * 1. A URL of `https:` stays as it is, one of `file:` is its path.
 * 2. A bundler's name (`webpack://name/./src/x.ts`, `turbopack:///[project]/src/x.ts`) is looked
 *    for without what the bundler adds; if there is no such file, it is what remains of the name.
 * 3. Anything else is relative to the map's folder. If there is no such file, it is looked for
 *    without its parents: some bundlers count the folders from elsewhere.
 * 4. If that file is not there, the same for the name decoded: Turbopack writes names as in a URL
 *    (`app/%5Bslug%5D/page.tsx`).
 */
import path from 'node:path';
import { boundedFile, isLongFile } from '../support/bounded.ts';
import { toPath } from '../support/file-url.ts';
import { attempt } from '../support/guard.ts';
import { hasScheme } from './source-map.ts';

/** Folders above the map in which a source may be that a bundler has given a name of its own. */
const MAX_FOLDERS = 12;

type Exists = (file: string) => boolean;

/** @param exists whether there is a file at this path */
export function resolveSource(source: string, mapFolder: string, exists: Exists): string {
  if (isLongFile(source)) return boundedFile(source);
  if (/^https?:/i.test(source)) return source;
  if (/^file:/i.test(source)) return toPath(source.replace(/^file:\/*/i, 'file:///'));
  const asItIs = resolveName(source, mapFolder, exists);
  const decoded = attempt(() => decodeURIComponent(source)) ?? source;
  return decoded === source || exists(asItIs) ? asItIs : resolveName(decoded, mapFolder, exists);
}

function resolveName(source: string, mapFolder: string, exists: Exists): string {
  if (hasScheme(source)) return fromBundler(source, mapFolder, exists);
  const resolved = path.resolve(mapFolder, source);
  if (path.isAbsolute(source) || exists(resolved)) return resolved;
  return find(withoutParents(source), mapFolder, exists) ?? resolved;
}

function fromBundler(source: string, mapFolder: string, exists: Exists): string {
  const withoutScheme = source.slice(source.indexOf(':') + 1);
  // `?1a2b` distinguishes what has the same name, and loaders stand in front:
  // `./loader.js!./src/x.ts`.
  const name = withoutScheme.replace(/^\/*/, '').replace(/\?[^/]*$/, '');
  const file = name.slice(name.lastIndexOf('!') + 1).replace(/^\/+/, '');
  const hasHost = /^\/\/[^/]/.test(withoutScheme);
  // The host is the name of a package, which may have a scope.
  const candidates = hasHost ? [file.replace(/^(?:@[^/]*\/)?[^/]*\//, ''), file] : [file];
  for (const candidate of candidates) {
    const found = find(withoutLayer(candidate), mapFolder, exists);
    if (found !== undefined) return found;
  }
  if (!hasHost && exists(`/${name}`)) return path.resolve(`/${name}`);
  return withoutParents(withoutLayer(candidates[0] as string)) || source;
}

/** `(rsc)/./lib/x.ts` of Next.js, `[project]/lib/x.ts` of Turbopack. */
const withoutLayer = (name: string) =>
  name.replace(/^(?:\([\w-]+\)|\[(?:project|root[\w-]*)\])\//, '');

/** Without `.` and without `..` in front: `src/x.ts`. */
function withoutParents(name: string): string {
  const normal = path.posix.normalize(name.replaceAll('\\', '/'));
  return normal.replace(/^(?:\.\.\/)+/, '').replace(/^\.\/?$/, '');
}

/** Below the map's folder, one of those above it, or the working directory: the nearest. */
function find(name: string, mapFolder: string, exists: Exists): string | undefined {
  if (name === '') return undefined;
  const folders: string[] = [];
  // Not the root of the file system: nothing that belongs together lies right below it.
  for (let folder = mapFolder; folders.length < MAX_FOLDERS; folder = path.dirname(folder)) {
    if (folder === path.dirname(folder)) break;
    folders.push(folder);
  }
  return [...folders, process.cwd()]
    .map((folder) => path.resolve(folder, name))
    .find((file) => exists(file));
}
