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
import { findSourceMap } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { boundedFile } from '../../../support/bounded.ts';
import { toPath } from '../../../support/file-url.ts';
import { attempt } from '../../../support/guard.ts';
import { isOfFile, needsCompiler } from './loaded-text.ts';
import {
  type GeneratedPosition,
  positionsOfStackTrace,
  type SourcePosition,
  type SourcePositionList,
} from './position.ts';
import { resolveSource } from './resolve-source.ts';

/** For positions in code that a loader made; undefined where nobody has a map. */
export function positionsByLoader(made: readonly GeneratedPosition[]): SourcePositionList {
  const byNode = made.map((position) => attempt(() => positionByNode(position)));
  const rest = made.filter((_, i) => byNode[i] === undefined);
  const byHost = positionsByHost(rest);
  return made.map((position, i) => byNode[i] ?? byHost[rest.indexOf(position)]);
}

/** Whether a file that was not read may run with other lines: Node.js only takes types away. */
export function mayHaveOtherLines(file: string): boolean {
  const { typescript } = process.features as { typescript?: unknown };
  return isOfFile(file) && needsCompiler(file) && (typescript !== 'strip' || hasLoader());
}

const nodeHasSourceMaps = () =>
  (process as { sourceMapsEnabled?: boolean }).sourceMapsEnabled === true;

/** Undefined if Node.js has no map of the file, or the position is not in it. */
function positionByNode({ file, line, column }: GeneratedPosition): SourcePosition | undefined {
  if (!nodeHasSourceMaps()) return undefined;
  // Node.js keeps the maps of ES modules by URL, those of CommonJS by path.
  const other = file.startsWith('file:') ? toPath(file) : pathToFileURL(file).href;
  const map = findSourceMap(file) ?? findSourceMap(other);
  const entry = map?.findEntry(line - 1, column - 1);
  if (entry === undefined || !('originalSource' in entry) || !entry.originalSource)
    return undefined;
  return {
    // Node.js leaves the sources of an indexed map as they are.
    file: resolveSource(entry.originalSource, path.dirname(toPath(file))),
    line: entry.originalLine + 1,
    column: entry.originalColumn + 1,
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
function positionsByHost(positions: readonly GeneratedPosition[]) {
  const prepareStackTrace = attempt(hostFunction);
  if (prepareStackTrace === undefined || positions.length === 0) return [];
  const asked = positions.slice(0, MAX_SITES);
  const sites = asked.map(siteAt);
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

const OTHERS =
  'getThis getFunction getEvalOrigin getTypeName getMethodName getPromiseIndex isEval isNative ' +
  'isConstructor isAsync isPromiseAll';
const NULLS = Object.fromEntries(OTHERS.split(' ').map((name) => [name, () => null]));

/** A call site at a position. `source-map-support` copies the methods of its prototype. */
function siteAt({ file, line, column }: GeneratedPosition): NodeJS.CallSite {
  return Object.create({
    ...NULLS,
    getFileName: () => file,
    getScriptNameOrSourceURL: () => file,
    getLineNumber: () => line,
    getColumnNumber: () => column,
    getFunctionName: () => 'f',
    isToplevel: () => true,
    toString: () => `f (${file}:${line}:${column})`,
  });
}
