/** Packages of the application: the SDK, its instrumentations and exporters are installed there. */
import { createRequire } from 'node:module';
import { packageOrigins } from './package-origins.ts';

/** Packages that bring others with them, if a package manager does not hoist those. */
const VIA = ['@opentelemetry/auto-instrumentations-node', '@opentelemetry/sdk-node'];

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
