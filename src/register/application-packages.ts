/**
 * Packages of the application: what `/register` needs beyond the api is installed there, or not at
 * all.
 */
import { createRequire } from 'node:module';
import { packageOrigins } from '../support/package-origins.ts';

/** Packages that bring others with them, where a package manager does not hoist those. */
const VIA = ['@opentelemetry/auto-instrumentations-node', '@opentelemetry/sdk-node'];

export class ApplicationPackages {
  /** Files that packages are resolved from, the likeliest first. */
  readonly #origins: string[];

  constructor() {
    this.#origins = packageOrigins();
    for (const name of VIA) {
      const found = this.resolve(name);
      if (found !== undefined) this.#origins.push(found);
    }
  }

  /** The file of a package's entry; undefined where it is not installed. */
  resolve(name: string): string | undefined {
    for (const origin of this.#origins) {
      try {
        return createRequire(origin).resolve(name);
      } catch {
        // Not from here.
      }
    }
    return undefined;
  }

  /**
   * What a package exports; undefined where it is not installed.
   * @throws whatever the package throws when it is loaded
   */
  load<Exports>(name: string): Exports | undefined {
    const file = this.resolve(name);
    return file === undefined ? undefined : (createRequire(file)(file) as Exports);
  }
}
