/**
 * Which package a file is of, and which others that one depends on.
 *
 * Guarantees: it reads each `package.json` once; a package whose own cannot be read depends on all
 * others; nothing is thrown.
 */
import { readFileSync } from 'node:fs';
import { toPath } from '../support/file-url.ts';

const MAX_KNOWN_PACKAGES = 500;
const LISTS = ['dependencies', 'optionalDependencies', 'peerDependencies'];

const NODE_MODULES = 'node_modules';

/** By folder; undefined if a package may depend on any other. */
const known = new Map<string, ReadonlySet<string> | undefined>();

/**
 * Folder of the innermost package: `/app/node_modules/koa`; empty for code outside of packages. NO
 * REGULAR EXPRESSION may run here, see `sample/stack.ts`.
 */
export function packageOf(file: string): string {
  const path = toPath(file);
  const name = nameStart(path);
  if (name === 0) return '';
  const separator = path[name - 1] as string;
  const scope = path[name] === '@' ? path.indexOf(separator, name) : name;
  const end = path.indexOf(separator, scope + 1);
  return end === -1 ? path : path.slice(0, end);
}

/** Where the name of the innermost package begins; 0 if there is none. */
function nameStart(path: string): number {
  const slashed = path.lastIndexOf(`/${NODE_MODULES}/`);
  const start = Math.max(slashed, path.lastIndexOf(`\\${NODE_MODULES}\\`));
  return start === -1 ? 0 : start + NODE_MODULES.length + 2;
}

/** Whether the package of the one folder depends on that of the other, as far as is known. */
export function dependsOn(folder: string, other: string): boolean {
  if (folder === '' || other === '') return true;
  if (!known.has(folder)) {
    if (known.size >= MAX_KNOWN_PACKAGES) known.clear();
    known.set(folder, dependenciesOf(folder));
  }
  const name = other.slice(nameStart(other)).replace('\\', '/');
  return known.get(folder)?.has(name) !== false;
}

function dependenciesOf(folder: string): ReadonlySet<string> | undefined {
  try {
    const json = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    return new Set(LISTS.flatMap((list) => Object.keys(json[list] ?? {})));
  } catch {
    return undefined;
  }
}
