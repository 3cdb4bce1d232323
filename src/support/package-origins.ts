/**
 * Files and folders that packages of the SDK are resolved from: those of the application, unless
 * what preloads this package brings its own, in a folder that the application does not know.
 */
import { PACKAGE_NAME } from '../version.ts';
import { attempt } from './guard.ts';

/**
 * `globalThis` has the file that brings its own packages under it. A contract with
 * `deploy/operator`, so a change needs a new key.
 */
const PACKAGES_FROM = Symbol.for(`${PACKAGE_NAME}.packages-from.v1`);

/** The file that brings the packages of the SDK; undefined if the application has them. */
export function ownPackagesFrom(): string | undefined {
  const file = (globalThis as Record<symbol, unknown>)[PACKAGES_FROM];
  return typeof file === 'string' ? file : undefined;
}

/** The likeliest first. */
export function packageOrigins(): string[] {
  const own = ownPackagesFrom();
  // Not those of the application as well: two versions of the SDK would be mixed.
  if (own !== undefined) return [own];
  const folder = attempt(() => `${process.cwd()}/`);
  return [process.argv[1], folder].filter((origin) => origin !== undefined);
}
