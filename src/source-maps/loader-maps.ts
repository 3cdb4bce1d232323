/**
 * Positions in the source of code that a loader made in memory. Only two know its source map:
 *
 * 1. Node.js, if source maps are enabled: the loader has given it the map (`tsx`,
 *    `esbuild-register`). Node.js decodes it here, on the main thread: the map of one source file.
 * 2. The loader, if it maps the stack traces of errors itself by `Error.prepareStackTrace`
 *    (`ts-node`, `@swc-node/register`, `@babel/register`, Jest). That function is called as V8
 *    calls it for an error: after a block, once for all of its new positions, with call sites of
 *    those.
 *
 * Guarantees: nothing that the loader throws gets out of here.
 */
import { existsSync } from 'node:fs';
import { findSourceMap } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { boundedFile } from '../support/bounded.ts';
import { toPath } from '../support/file-url.ts';
import { attempt } from '../support/guard.ts';
import {
  type GeneratedPosition,
  positionsOfStackTrace,
  type SourcePosition,
  type SourcePositionList,
} from './position.ts';
import { resolveSource } from './resolve-source.ts';

export const nodeHasSourceMaps = () =>
  (process as { sourceMapsEnabled?: boolean }).sourceMapsEnabled === true;

/** Undefined if Node.js has no map of the file, or the position is not in it. */
export function positionByNode({
  file,
  line,
  column,
}: GeneratedPosition): SourcePosition | undefined {
  // Node.js keeps the maps of ES modules by URL, those of CommonJS by path.
  const other = file.startsWith('file:') ? toPath(file) : pathToFileURL(file).href;
  const map = findSourceMap(file) ?? findSourceMap(other);
  const entry: Partial<ReturnType<NonNullable<typeof map>['findEntry']>> =
    map?.findEntry(line - 1, column - 1) ?? {};
  const {
    originalSource,
    originalLine = -1,
    originalColumn = -1,
  } = entry as {
    originalSource?: string;
    originalLine?: number;
    originalColumn?: number;
  };
  if (!originalSource || originalLine < 0 || originalColumn < 0) return undefined;
  return {
    // Node.js leaves the sources of an indexed map as they are.
    file: resolveSource(originalSource, path.dirname(toPath(file)), existsSync),
    line: originalLine + 1,
    column: originalColumn + 1,
  };
}

/** More than the frames of a deep stack; an error has ten. */
const MAX_SITES = 250;
/** The name of the function that Node.js itself puts there. */
const NAME_IN_NODE = 'ErrorPrepareStackTrace';
const FRAME = '\n    at ';

/** Where V8 looks for it, whatever the global of that name is. */
const RealmError = Object.getPrototypeOf(TypeError) as ErrorConstructor;
/** Then Node.js looks at that of its main context: Jest runs tests in another one. */
const mainError = () => Object.getPrototypeOf(DOMException.prototype).constructor;

/** Whether files may run as something else than their text. Never throws. */
export const hasLoader = (): boolean => nodeHasSourceMaps() || attempt(hostFunction) !== undefined;

function hostFunction(): ErrorConstructor['prepareStackTrace'] | undefined {
  return [RealmError, mainError() as ErrorConstructor]
    .map(({ prepareStackTrace }) => prepareStackTrace)
    .find((each) => typeof each === 'function' && each.name !== NAME_IN_NODE);
}

/** One for each position: undefined if the host does not map it. Never throws. */
export function positionsByHost(positions: readonly GeneratedPosition[]): SourcePositionList {
  const prepareStackTrace = attempt(hostFunction);
  if (prepareStackTrace === undefined || positions.length === 0) return [];
  const asked = positions.slice(0, MAX_SITES);
  const sites = asked.map((position) => new Site(position) as unknown as NodeJS.CallSite);
  const trace: unknown = attempt(() => prepareStackTrace.call(RealmError, new RealmError(), sites));
  if (typeof trace !== 'string') return [];
  const frames = trace.split(FRAME).slice(1);
  if (frames.length !== asked.length) return [];
  return asked.map(({ line, column }, i) => {
    const [found] = positionsOfStackTrace(frames[i] as string);
    if (found === undefined || (found.line === line && found.column === column)) return undefined;
    return { file: boundedFile(toPath(found.file)), line: found.line, column: found.column };
  });
}

/** A call site at a position. `source-map-support` copies the methods of its prototype. */
class Site {
  constructor(private readonly position: GeneratedPosition) {}
  getFileName() {
    return this.position.file;
  }
  getScriptNameOrSourceURL() {
    return this.position.file;
  }
  getLineNumber() {
    return this.position.line;
  }
  getColumnNumber() {
    return this.position.column;
  }
  getFunctionName() {
    return 'f';
  }
  isToplevel() {
    return true;
  }
  toString() {
    return `f (${this.position.file}:${this.position.line}:${this.position.column})`;
  }
}

/** What else a call site of V8 has. */
const answersNull = () => null;
for (const name of ['This', 'Function', 'EvalOrigin', 'TypeName', 'MethodName', 'PromiseIndex'])
  Object.defineProperty(Site.prototype, `get${name}`, { value: answersNull });
for (const name of ['isEval', 'isNative', 'isConstructor', 'isAsync', 'isPromiseAll'])
  Object.defineProperty(Site.prototype, name, { value: () => false });
