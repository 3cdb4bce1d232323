/**
 * Packages of the application: the SDK, its instrumentations and exporters are installed there,
 * unless what preloads this package brings its own, in a folder that the application does not know.
 */
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { PACKAGE_NAME } from '../version.ts';
import { attempt } from './guard.ts';

// Taken once: an application may replace it.
const { realpathSync } = fs;

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
  return own === undefined ? applicationOrigins() : [own];
}

function applicationOrigins(): string[] {
  const folder = attempt(() => `${process.cwd()}/`);
  // A global command is a link, and its packages lie where it leads to.
  const script = process.argv[1] ?? '';
  const file = attempt(() => realpathSync(script)) ?? process.argv[1];
  return [file, folder].filter((origin) => origin !== undefined);
}

const SDK = '@opentelemetry/sdk-node';
const API = '@opentelemetry/api';
/** Packages that bring others with them, if a package manager does not hoist those. */
const VIA = ['@opentelemetry/auto-instrumentations-node', SDK];

/**
 * Call it before packages are looked for. An SDK that is installed beside this package is used,
 * unless the application has the same copy of the api: this package may be in a folder of its own.
 * @param file one of this package's
 * @returns loads another copy of the api, if the application has one
 */
export function usePackagesBeside(file: string): (() => object | undefined) | undefined {
  const application = new ApplicationPackages(applicationOrigins());
  const beside = new ApplicationPackages([file]);
  const api = application.resolve(API);
  if (api === beside.resolve(API)) return undefined;
  if (beside.resolve(SDK) !== undefined)
    (globalThis as Record<symbol, unknown>)[PACKAGES_FROM] ??= file;
  return api === undefined ? undefined : () => application.load<object>(API);
}

export class ApplicationPackages {
  readonly #origins: string[];

  /** @param origins files and folders that packages are resolved from, the likeliest first */
  constructor(origins: readonly string[] = packageOrigins()) {
    this.#origins = [...origins];
    for (const name of VIA) {
      const found = this.resolve(name);
      if (found !== undefined) this.#origins.push(found);
    }
  }

  /**
   * The file of a package's entry; undefined if it is not installed.
   * @param via the package that uses it, if its version is the one that is meant
   */
  resolve(name: string, via?: string): string | undefined {
    const user = via === undefined ? undefined : this.resolve(via);
    for (const origin of user === undefined ? this.#origins : [user, ...this.#origins]) {
      try {
        return createRequire(origin).resolve(name);
      } catch {
        // It is not found from this file.
      }
    }
    return undefined;
  }

  /**
   * What a package exports; undefined if it is not installed.
   * @param via as for `resolve`
   * @throws whatever the package throws when it is loaded
   */
  load<Exports>(name: string, via?: string): Exports | undefined {
    const file = this.resolve(name, via);
    return file === undefined ? undefined : (createRequire(file)(file) as Exports);
  }
}
