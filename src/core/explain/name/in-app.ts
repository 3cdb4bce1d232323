/**
 * Decides which code is the application's own ("in-app", as error trackers call it), and which
 * belongs to neither side: an agent's wrappers around what others call. The first rule that applies
 * to a file decides:
 *
 * 1. A WebAssembly module is a dependency: what can be changed is its caller.
 * 2. What the option `inApp` says yes to is the application. What it says no to is decided by 4 to
 *    7, and is a dependency if those say that it is the application.
 * 3. The package of the main script is the application, unless it is a tool of the project in the
 *    working directory (`next start`).
 * 4. Node.js is a dependency. AWS Lambda's runtime, which calls the application, is a dispatcher.
 *    Yarn's loader, which stands between `require` and a module, is an agent.
 * 5. What is in `node_modules` is an agent if any package on the path is one: an agent's own
 *    dependencies are its own. Else the innermost package decides: dispatcher or dependency.
 * 6. A bundler's chunk that is named after a package is as that package.
 * 7. Anything else is the application.
 *
 * Guarantees: it has one answer for a file, in bounded memory, and nothing that the user's function
 * throws gets out of here.
 */
import path from 'node:path';
import { toPath } from '../../../support/file-url.ts';
import { isAgentPackage, isDispatcher } from './known-packages.ts';

/** The option `inApp`, see `EventLoopInstrumentationConfig`. */
export type InAppOption = readonly string[] | ((file: string) => boolean);

/** A list of more is a mistake. */
export const MAX_IN_APP_PATHS = 100;

/** Says what is wrong with a value of the option that is not a function. */
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
  | 'app'
  /** A package's. */
  | 'dependency'
  /** A web framework's, which calls others' code. Named only if there is nothing else. */
  | 'dispatcher'
  /** An agent's: it wraps the calls of others. Named only if it is alone on the stack. */
  | 'agent';

export interface OriginOptions {
  readonly inApp?: InAppOption | undefined;
  /** The process' working directory: relative paths of the option start there. */
  readonly cwd?: string | undefined;
  /**
   * The main script, links resolved: `require.main.filename`, or `process.argv[1]` through
   * `realpathSync`.
   */
  readonly mainFile?: string | undefined;
  /** Called once, if the option's function throws or answers with something else than a boolean. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export type OriginOf = (file: string) => Origin;

/** Answers kept: a stack has some 100 frames at most, so a large application stays below it. */
const MAX_KNOWN_FILES = 2000;

/** The answer for a file does not change. */
export function createOriginOf(options: OriginOptions = {}): OriginOf {
  const { inApp, cwd = '', mainFile } = options;
  const mainPackage = mainFile === undefined ? undefined : applicationPackage(mainFile, cwd);
  const isInApp = typeof inApp === 'function' ? guarded(inApp, options) : pathsOf(inApp, cwd);
  const decide = (file: string): Origin => {
    if (isWasmFile(file)) return 'dependency';
    const path = normalize(file);
    const answer = isInApp(file);
    const isMain = mainPackage !== undefined && isBelow(path, mainPackage);
    if (answer === true || (answer === undefined && isMain)) return 'app';
    const origin = originByPath(path);
    return origin === 'app' && answer === false ? 'dependency' : origin;
  };
  const known = new Map<string, Origin>();
  return (file) => {
    const before = known.get(file);
    if (before !== undefined) return before;
    const origin = decide(file);
    // Each evaluation may generate a new file name: the map must not grow by that.
    if (known.size >= MAX_KNOWN_FILES) known.clear();
    known.set(file, origin);
    return origin;
  };
}

/** The option's answer for a file; undefined if it has none. */
type InApp = (file: string) => boolean | undefined;

function pathsOf(paths: readonly string[] | undefined, cwd: string): InApp {
  const folders = paths?.map((entry) => toFolder(entry, cwd));
  return (file) => {
    const path = normalize(file);
    return folders?.some((folder) => isBelow(path, folder));
  };
}

function guarded(inApp: (file: string) => unknown, { onError }: OriginOptions): InApp {
  let hasFailed = false;
  const failed = (error: unknown) => {
    if (!hasFailed) onError?.(error);
    hasFailed = true;
  };
  return (file) => {
    try {
      const answer = inApp(toPath(file));
      if (typeof answer === 'boolean') return answer;
      // An async function's promise may reject, and has no other handler.
      if (answer instanceof Promise) answer.catch(() => {});
      failed(new TypeError(`inApp returned ${typeof answer}, expected a boolean`));
    } catch (error) {
      failed(error);
    }
    return undefined;
  };
}

export function isNodeFile(file: string): boolean {
  return file.startsWith('node:');
}

/** Code of a WebAssembly module: `wasm://wasm/e8f224ae`. */
export function isWasmFile(file: string): boolean {
  return file.startsWith('wasm://');
}

/** A path with slashes, and a drive letter in lower case. */
function normalize(file: string): string {
  return toPath(file)
    .replaceAll('\\', '/')
    .replace(/^[A-Z]:/, (drive) => drive.toLowerCase());
}

/** The folder or file that an entry of the option names, without a slash at its end. */
function toFolder(entry: string, cwd: string): string {
  const folder = normalize(entry.trim());
  if (/^[a-z][\w+.-]+:\//i.test(folder)) return folder;
  const isAbsolute = /^(\/|[a-z]:)/.test(folder);
  const absolute = path.posix.normalize(isAbsolute ? folder : `${normalize(cwd)}/${folder}`);
  return absolute.replace(/\/$/, '');
}

const NODE_MODULES = '/node_modules/';

/** At or below a folder, with no `node_modules` in between. */
function isBelow(path: string, folder: string): boolean {
  if (path === folder) return true;
  return path.startsWith(`${folder}/`) && !path.includes(NODE_MODULES, folder.length);
}

/** `/usr/lib/node_modules/verdaccio` of `/usr/lib/node_modules/verdaccio/bin/verdaccio`. */
function applicationPackage(mainFile: string, cwd: string): string | undefined {
  const path = normalize(mainFile);
  const [folder] = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
  const project = path.slice(0, path.indexOf(NODE_MODULES) + 1);
  return `${normalize(cwd)}/`.startsWith(project) ? undefined : folder;
}

/**
 * The name of each package on a path: `webpack-internal:///./node_modules/…` has a slash before it,
 * `node_modules/…` of a source map none.
 */
const PACKAGE = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)/g;
const YARN_LOADER = /\/\.pnp(?:\.loader)?\.[cm]?js$/;
const LAMBDA_RUNTIME = '/var/runtime/';

function originByPath(path: string): Origin {
  if (isNodeFile(path)) return 'dependency';
  if (path.startsWith(LAMBDA_RUNTIME)) return 'dispatcher';
  if (YARN_LOADER.test(path)) return 'agent';
  const packages = Array.from(path.matchAll(PACKAGE), ([, name = '']) => name);
  const innermost = packages.at(-1);
  if (innermost === undefined) return originOfChunk(path) ?? 'app';
  if (packages.some(isAgentPackage)) return 'agent';
  return isDispatcher(innermost) ? 'dispatcher' : 'dependency';
}

/** A file that a bundler has made of packages, and maybe of the application. */
export function isChunk(file: string): boolean {
  const path = normalize(file);
  return !path.includes(NODE_MODULES) && originOfChunk(path) !== undefined;
}

/** The code that calls modules in a bundle. */
const BUNDLER_RUNTIME = /\[turbopack\](?:\/|_runtime\.js)|\/webpack-runtime\.js/;
/** `vendor-chunks/@sentry.js`, and with pnpm `vendor-chunks/@sentry+node@9.1.0.js`. */
const VENDOR_CHUNK = /\/vendor-chunks\/(.*)\.js/;
/** `chunks/node_modules_lodash_1a2b._.js`, up to the file's name in the package. */
const TURBOPACK_CHUNK = /\/node_modules_([^/]*)$/;

/** Next's bundles: a chunk of a single package has its name. */
function originOfChunk(path: string): Origin | undefined {
  if (BUNDLER_RUNTIME.test(path)) return 'dispatcher';
  const vendor = VENDOR_CHUNK.exec(path)?.[1]?.replaceAll('+', '/');
  if (vendor !== undefined) {
    if (isAgentPackage(vendor) || isAgentPackage(`${vendor}/`)) return 'agent';
    return /^next(?:@|$)/.test(vendor) ? 'dispatcher' : 'dependency';
  }
  const inTurbopack = TURBOPACK_CHUNK.exec(path)?.[1];
  if (inTurbopack === undefined) return undefined;
  return inTurbopack.startsWith('next_') ? 'dispatcher' : 'dependency';
}
