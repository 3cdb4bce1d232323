/** From a source as its map names it to a path that an editor opens. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { toPath } from '../support/file-url.ts';
import { attempt } from '../support/guard.ts';
import { hasScheme } from './decode.ts';

/** Folders above the map in which a source may be that a bundler has given a name of its own. */
const MAX_FOLDERS = 12;

/** @param exists whether there is a file at this path */
export function resolveSource(
  source: string,
  mapFolder: string,
  exists: (file: string) => boolean,
): string {
  if (/^https?:/i.test(source)) return source;
  if (/^file:/i.test(source)) return fromFileUrl(source);
  const asItIs = resolveName(source, mapFolder, exists);
  // Turbopack writes names as in a URL: `app/%5Bslug%5D/page.tsx`, `node_modules/%40swc/…`.
  const name = decoded(source);
  return name === source || exists(asItIs) ? asItIs : resolveName(name, mapFolder, exists);
}

function decoded(source: string): string {
  return attempt(() => decodeURIComponent(source)) ?? source;
}

function resolveName(source: string, mapFolder: string, exists: (file: string) => boolean): string {
  if (hasScheme(source)) return fromBundler(source, mapFolder, exists);
  const resolved = path.resolve(mapFolder, source);
  if (path.isAbsolute(source) || exists(resolved)) return resolved;
  // Some bundlers count the folders from elsewhere: what comes after them is right.
  const inside = withoutParents(source);
  if (inside === '') return resolved;
  return find(inside, mapFolder, exists) ?? resolved;
}

function fromFileUrl(source: string): string {
  try {
    return fileURLToPath(source);
  } catch {
    // Of another system: a map that was made on Linux has no drive.
    return toPath(source.replace(/^file:\/*/i, 'file:///'), '/');
  }
}

/** `webpack://name/./src/x.ts`, `webpack:///src/x.ts`, `turbopack:///[project]/src/x.ts`. */
function fromBundler(source: string, mapFolder: string, exists: (file: string) => boolean): string {
  const withoutScheme = source.slice(source.indexOf(':') + 1);
  const hasHost = /^\/\/[^/]/.test(withoutScheme);
  let name = withoutScheme.replace(/^\/*/, '');
  const absolute = `/${name}`;
  // `?1a2b` distinguishes what has the same name, and loaders stand in front:
  // `./loader.js!./src/x.ts`.
  name = withoutQuery(name);
  const file = name.slice(name.lastIndexOf('!') + 1).replace(/^\/+/, '');
  const candidates = hasHost ? [withoutHost(file), file] : [file];
  for (const candidate of candidates) {
    const found = find(withoutLayer(candidate), mapFolder, exists);
    if (found !== undefined) return found;
  }
  if (!hasHost && exists(withoutQuery(absolute))) return path.resolve(withoutQuery(absolute));
  return clean(candidates[0] as string) || source;
}

const withoutQuery = (name: string) => name.replace(/\?[^/]*$/, '');
/** The name of a package may have a scope. */
const withoutHost = (name: string) => name.replace(/^(?:@[^/]*\/)?[^/]*\//, '');

/** `(rsc)/./lib/x.ts` of Next.js, `[project]/lib/x.ts` of Turbopack. */
const withoutLayer = (name: string) =>
  name.replace(/^(?:\([\w-]+\)|\[(?:project|root[\w-]*)\])\//, '');

/** Without `.` and without parents: `src/x.ts`. */
const clean = (name: string) => withoutParents(withoutLayer(name));

function withoutParents(name: string): string {
  const normal = path.posix.normalize(name.replaceAll('\\', '/'));
  return normal.replace(/^(?:\.\.\/)+/, '').replace(/^\.\/?$/, '');
}

/** Below the map's folder, one of those above it, or the working directory: the nearest. */
function find(
  name: string,
  mapFolder: string,
  exists: (file: string) => boolean,
): string | undefined {
  if (name === '') return undefined;
  let folder = mapFolder;
  for (let i = 0; i < MAX_FOLDERS; i++) {
    const parent = path.dirname(folder);
    // Not below the root of the file system: nothing that belongs together lies there.
    if (parent === folder) break;
    const file = path.resolve(folder, name);
    if (exists(file)) return file;
    folder = parent;
  }
  const file = path.resolve(name);
  return exists(file) ? file : undefined;
}
