/**
 * Finds the package of a file, and whether that depends on another.
 *
 * Guarantees: it reads each `package.json` once, and only in a thread that may; nothing is thrown.
 */
import { readFileSync } from 'node:fs';
import { toPath } from '../../../support/file-url.ts';
import { attempt } from '../../../support/guard.ts';
import { mayRead } from '../../../support/reading.ts';

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

/** `/app/node_modules/@koa` of `/app/node_modules/@koa/router`; other folders are as they are. */
export function scopeOf(folder: string): string {
  const start = nameStart(folder);
  const separator = folder[start - 1] ?? '';
  return folder[start] === '@' ? folder.slice(0, folder.indexOf(separator, start)) : folder;
}

/** Index at which the name of the innermost package begins; 0 if there is none. */
function nameStart(path: string): number {
  const slashed = path.lastIndexOf(`/${NODE_MODULES}/`);
  const start = Math.max(slashed, path.lastIndexOf(`\\${NODE_MODULES}\\`));
  return start === -1 ? 0 : start + NODE_MODULES.length + 2;
}

/** Whether the package of one folder depends on that of another; undefined if it is not known. */
export function dependsOn(folder: string, other: string): boolean | undefined {
  if (folder === '' || other === '') return undefined;
  if (!known.has(folder)) {
    if (!mayRead()) return undefined;
    learnPackage(folder, dependenciesOf(folder));
  }
  const name = other.slice(nameStart(other)).replace('\\', '/');
  return known.get(folder)?.has(name);
}

/** A folder, and the names of what its package depends on; undefined if that may be any other. */
export type PackageDependencies = readonly [folder: string, others: readonly string[] | undefined];

/** Another thread has read them. */
export function learnPackages(packages: readonly PackageDependencies[]): void {
  for (const [folder, others] of packages) learnPackage(folder, others);
}

function learnPackage(folder: string, others: readonly string[] | undefined): void {
  if (known.size >= MAX_KNOWN_PACKAGES) known.clear();
  known.set(folder, others && new Set(others));
}

/** Instead of what is on the disk: a recording says what each package of it depends on. */
export function assumePackages(packages: readonly (readonly [string, string[] | undefined])[]) {
  known.clear();
  for (const [folder, others] of packages)
    learnPackage(
      folder,
      others?.map((other) => other.slice(nameStart(other))),
    );
}

/** Undefined if it may depend on any other. Never throws. */
export const dependenciesOf = (folder: string): string[] | undefined =>
  attempt(() => {
    const json = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    return LISTS.flatMap((list) => Object.keys(json[list] ?? {}));
  });
