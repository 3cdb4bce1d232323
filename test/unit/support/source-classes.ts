/** Every class in `src/` in any folder, with its private methods in reach. */
import { readdirSync, readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import path from 'node:path';
import { transformSync } from '@swc/core';
import { PACKAGE_NAME } from '../../../src/version.ts';

const SRC = path.join(__dirname, '../../../src');
/** Nothing of it runs in an application. */
const BROWSER = path.join('html-report', 'browser');
/** How `#name` is called in what is loaded: a property like any other. */
export const PRIVATE = '_private_';

type Class = (abstract new (...args: never[]) => unknown) & { prototype: object };

/** One copy of the sources, apart from what jest has loaded of them. */
export class SourceClasses {
  readonly #modules = new Map<string, { exports: Record<string, unknown> }>();
  /**
   * Files that export nothing but types: there is nothing in them, or they run when they are
   * loaded.
   */
  readonly notLoaded: string[] = [];
  readonly byName = new Map<string, Class>();

  /** @param requirePackage the `require` of the test, so that both have the same OpenTelemetry */
  constructor(private readonly requirePackage: (name: string) => unknown) {
    for (const file of readdirSync(SRC, { recursive: true, encoding: 'utf8' }).sort()) {
      if (!file.endsWith('.ts') || file.startsWith(BROWSER)) continue;
      const code = readFileSync(path.join(SRC, file), 'utf8');
      if (!/^export (?!type\b|interface\b)/m.test(code)) {
        this.notLoaded.push(file);
        continue;
      }
      for (const [name, value] of Object.entries(this.#load(path.join(SRC, file)))) {
        if (
          typeof value === 'function' &&
          /^class\b/.test(Function.prototype.toString.call(value))
        ) {
          this.byName.set(name, value as Class);
        }
      }
    }
  }

  /** Whether a file has nothing that runs. */
  isOnlyTypes(file: string): boolean {
    const source = readFileSync(path.join(SRC, file), 'utf8');
    return !/^(export )?(default|const|let|function|class|abstract|async) |^\w+[.(]/m.test(source);
  }

  get(name: string): Class {
    const found = this.byName.get(name);
    if (found === undefined) throw new Error(`no class ${name} in src/`);
    return found;
  }

  #load(file: string): Record<string, unknown> {
    const loaded = this.#modules.get(file);
    if (loaded !== undefined) return loaded.exports;
    const module = { exports: {} };
    this.#modules.set(file, module);
    const requireFrom = (name: string): unknown => {
      if (name.startsWith('.')) return this.#load(path.resolve(path.dirname(file), name));
      // An entry that has the main entry by the package's name gets this copy of it.
      if (name === PACKAGE_NAME) return this.#load(path.join(SRC, 'index.ts'));
      if (name === 'node:module') return { ...nodeModule, createRequire: () => requireFrom };
      return this.requirePackage(name);
    };
    const run = new Function('require', 'module', 'exports', '__filename', compile(file));
    run(requireFrom, module, module.exports, file);
    return module.exports;
  }
}

function compile(file: string): string {
  const text = readFileSync(file, 'utf8');
  // The code of the threads is a string there: it is theirs, and whole.
  const source = file.endsWith('.generated.ts')
    ? text
    : text
        .replace(/(?<!\w)#(\w+)(?= in )/g, `'${PRIVATE}$1'`)
        .replace(/(?<![\w&'"`])#(?=[a-zA-Z_]\w*)/g, PRIVATE)
        .replace(/^(abstract )?class /gm, 'export $1class ');
  const { code } = transformSync(source, {
    filename: file,
    configFile: false,
    swcrc: false,
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
    module: { type: 'commonjs' },
  });
  return `${code}\n//# sourceURL=${file}`;
}
