/**
 * Which code is the application's own ("in-app", as error trackers call it), and which belongs to
 * neither side: an agent's wrappers around what others call. Promises: one answer for a file, by
 * plain string work, in bounded memory, and nothing that a user's function does gets out of here.
 */
import { toPath } from '../support/file-url.ts';
import { isAgentPackage, isDispatcher } from './known-packages.ts';

/** The option `inApp`, see `EventLoopInstrumentationConfig`. */
export type InAppOption = readonly string[] | ((file: string) => boolean);

/** A list of more is a mistake. */
export const MAX_IN_APP_PATHS = 100;

/** What is wrong with a value of the option that is not a function. */
export function problemOfPaths(value: unknown): 'type' | 'range' | undefined {
  if (!Array.isArray(value) || !value.every((path) => typeof path === 'string')) return 'type';
  const inRange = value.length > 0 && value.length <= MAX_IN_APP_PATHS;
  return inRange && value.every((path: string) => path.trim() !== '') ? undefined : 'range';
}

/** The environment variable's text as a value of the option. */
export function parseInApp(text: string): string[] {
  return text
    .split(',')
    .map((path) => path.trim())
    .filter((path) => path !== '');
}

/** Who can change the code of a file. */
export type Origin =
  /** The application's own code. */
  | 'app'
  /** A package's. */
  | 'dependency'
  /**
   * A package's that dispatches to others' code: a web framework, a promise library. Named only
   * where there is nothing else.
   */
  | 'dispatcher'
  /** An agent's: it wraps the calls of others. Named only where it is alone on the stack. */
  | 'agent';

export interface OriginOptions {
  readonly inApp?: InAppOption | undefined;
  /** Of the process, an absolute path: where relative paths of the option start. */
  readonly cwd?: string | undefined;
  /**
   * The main script, links resolved: `require.main.filename`, or `process.argv[1]` through
   * `realpathSync`.
   */
  readonly mainFile?: string | undefined;
  /**
   * Called once, when the function of the option throws or answers with something else than a
   * boolean.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export type OriginOf = (file: string) => Origin;

/** Answers kept: a stack has some 100 frames at most, so a large application stays below it. */
const MAX_KNOWN_FILES = 2000;

const NODE_MODULES = '/node_modules/';

/** Runtimes around the application that lie outside of any `node_modules`. */
const RUNTIME_FOLDERS = ['/var/runtime/'];
/** Yarn's loader, which stands between `require` and the module. */
const LOADER_FILES = ['/.pnp.cjs', '/.pnp.js', '/.pnp.loader.mjs'];

/** Made once; what it answers for a file does not change. */
export function createOriginOf(options: OriginOptions = {}): OriginOf {
  const known = new Map<string, Origin>();
  const decide = createDecision(options);
  return (file) => {
    const before = known.get(file);
    if (before !== undefined) return before;
    const origin = isWasmFile(file) ? 'dependency' : decide(file);
    // Generated file names, a new one for each evaluation, must not make it grow.
    if (known.size >= MAX_KNOWN_FILES) known.clear();
    known.set(file, origin);
    return origin;
  };
}

/** Node.js' own code. */
export function isNodeFile(file: string): boolean {
  return file.startsWith('node:');
}

/** Code of a WebAssembly module: `wasm://wasm/e8f224ae`. What can be changed is its caller. */
export function isWasmFile(file: string): boolean {
  return file.startsWith('wasm://');
}

function createDecision({ inApp, cwd = '', mainFile, onError }: OriginOptions): OriginOf {
  const mainPackage = mainFile === undefined ? undefined : applicationPackage(mainFile, cwd);
  const byDefault = (path: string): Origin =>
    mainPackage !== undefined && isBelow(path, mainPackage) ? 'app' : originByPath(path);
  if (inApp === undefined) return (file) => byDefault(normalize(toPath(file)));
  /** Where the option says no: what it is then. */
  const otherwise = (path: string): Origin => {
    const origin = originByPath(path);
    return origin === 'app' ? 'dependency' : origin;
  };
  if (typeof inApp !== 'function') {
    const prefixes = inApp.map((path) => toPrefix(path, cwd));
    return (file) => {
      const path = normalize(toPath(file));
      return prefixes.some((prefix) => isBelow(path, prefix)) ? 'app' : otherwise(path);
    };
  }
  let hasFailed = false;
  const failed = (error: unknown) => {
    if (hasFailed) return;
    hasFailed = true;
    onError?.(error);
  };
  return (file) => {
    const path = normalize(toPath(file));
    try {
      const answer: unknown = inApp(toPath(file));
      if (typeof answer === 'boolean') return answer ? 'app' : otherwise(path);
      // An async function's promise may reject, and has no other handler.
      if (answer instanceof Promise) answer.catch(() => {});
      failed(new TypeError(`inApp returned ${typeof answer}, expected a boolean`));
    } catch (error) {
      failed(error);
    }
    return byDefault(path);
  };
}

/** With slashes, and a drive letter in lower case. */
function normalize(path: string): string {
  const slashed = path.includes('\\') ? path.split('\\').join('/') : path;
  return slashed[1] === ':'
    ? `${(slashed[0] as string).toLowerCase()}${slashed.slice(1)}`
    : slashed;
}

/** An absolute path from an entry of the option, without `.` and `..`. */
function toPrefix(entry: string, cwd: string): string {
  const path = normalize(toPath(entry.trim()));
  const isUrl = path.indexOf(':/') > 1;
  if (isUrl) return path;
  const isAbsolute = path.startsWith('/') || path[1] === ':';
  const parts: string[] = [];
  for (const part of (isAbsolute ? path : `${normalize(cwd)}/${path}`).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && (part !== '' || parts.length === 0)) parts.push(part);
  }
  return `${parts.join('/')}${path.endsWith('/') ? '/' : ''}`;
}

/** At or below `prefix`, with no `node_modules` in between. */
function isBelow(path: string, prefix: string): boolean {
  if (!path.startsWith(prefix)) return false;
  if (path.length === prefix.length) return true;
  const from = prefix.endsWith('/') ? prefix.length - 1 : prefix.length;
  return path[from] === '/' && !path.includes(NODE_MODULES, from);
}

function originByPath(path: string): Origin {
  if (isNodeFile(path) || RUNTIME_FOLDERS.some((folder) => path.startsWith(folder)))
    return 'dependency';
  if (LOADER_FILES.some((file) => path.endsWith(file))) return 'agent';
  let origin: Origin = 'app';
  // An agent's own dependencies are its own: every package on the way counts.
  for (let at = nextPackage(path, 0); at !== -1; at = nextPackage(path, at)) {
    const name = packageNameAt(path, at);
    if (isAgentPackage(name)) return 'agent';
    origin = isDispatcher(name) ? 'dispatcher' : 'dependency';
  }
  if (origin !== 'app') return origin;
  return originOfChunk(path) ?? (isInPackageCache(path) ? 'dependency' : 'app');
}

/** Index of the name of the next package on a path, or -1. */
function nextPackage(path: string, from: number): number {
  const at = path.indexOf(NODE_MODULES, from);
  if (at !== -1) return at + NODE_MODULES.length;
  // `webpack-internal:///./node_modules/…` has a slash before it, `node_modules/…` of a source map
  // none.
  return from === 0 && path.startsWith(NODE_MODULES.slice(1)) ? NODE_MODULES.length - 1 : -1;
}

function packageNameAt(path: string, at: number): string {
  const end = path.indexOf('/', at);
  if (end === -1) return path.slice(at);
  if (path[at] !== '@') return path.slice(at, end);
  const endOfScoped = path.indexOf('/', end + 1);
  return endOfScoped === -1 ? path.slice(at) : path.slice(at, endOfScoped);
}

/**
 * `/usr/lib/node_modules/verdaccio/` of `/usr/lib/node_modules/verdaccio/bin/verdaccio`. Undefined
 * outside of packages, and where the package is installed for the project in the working directory
 * (`next start`): then the project is the application.
 */
function applicationPackage(mainFile: string, cwd: string): string | undefined {
  const path = normalize(toPath(mainFile));
  const modules = path.lastIndexOf(NODE_MODULES);
  if (modules === -1) return undefined;
  const project = path.slice(0, path.indexOf(NODE_MODULES) + 1);
  if (`${normalize(cwd)}/`.startsWith(project)) return undefined;
  const at = modules + NODE_MODULES.length;
  return `${path.slice(0, at)}${packageNameAt(path, at)}/`;
}

/** Stores that are laid out without `node_modules`. */
function isInPackageCache(path: string): boolean {
  return (
    path.includes('/.yarn/') ||
    path.includes('/$$virtual/') ||
    path.includes('/__virtual__/') ||
    path.includes('/.pnpm-store/') ||
    path.includes('/.pnpm/')
  );
}

const VENDOR_CHUNKS = '/vendor-chunks/';
/** What calls modules in a bundle. */
const BUNDLER_RUNTIMES = ['[turbopack]/', '/[turbopack]_runtime.js', '/webpack-runtime.js'];

/** A file that a bundler has made of packages, and maybe of the application. */
export function isChunk(file: string): boolean {
  const path = normalize(toPath(file));
  return !path.includes(NODE_MODULES) && originOfChunk(path) !== undefined;
}

/**
 * Next's bundles: a chunk of a single package has its name (`vendor-chunks/lodash.js`,
 * `chunks/node_modules_lodash_1a2b._.js`).
 */
function originOfChunk(path: string): Origin | undefined {
  if (BUNDLER_RUNTIMES.some((runtime) => path.includes(runtime))) return 'dispatcher';
  const vendor = path.indexOf(VENDOR_CHUNKS);
  if (vendor !== -1) {
    const name = path.slice(vendor + VENDOR_CHUNKS.length);
    // `vendor-chunks/@opentelemetry.js`, and with pnpm `vendor-chunks/@opentelemetry+api@1.9.0.js`.
    const packageName = name.slice(0, name.lastIndexOf('.js')).split('+').join('/');
    if (isAgentPackage(packageName) || isAgentPackage(`${packageName}/`)) return 'agent';
    return name.startsWith('next.js') || name.startsWith('next@') ? 'dispatcher' : 'dependency';
  }
  const chunk = path.slice(path.lastIndexOf('/') + 1);
  if (!chunk.startsWith('node_modules_')) return undefined;
  return chunk.startsWith('node_modules_next_') ? 'dispatcher' : 'dependency';
}
