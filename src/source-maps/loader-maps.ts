/**
 * Positions in the source of code that a loader made in memory. Only the loader has its source map:
 * it has given it to Node.js (`tsx`, `esbuild-register`), or it maps the stack traces of errors
 * itself by `Error.prepareStackTrace` (`ts-node`, `@swc-node/register`, `@babel/register`, Jest).
 * Then that function is called as V8 calls it for an error: after a block, once for all of its new
 * positions, with call sites of those positions.
 */
import { toPath } from '../support/file-url.ts';
import { attempt } from '../support/guard.ts';
import { nodeHasSourceMaps } from './node-source-maps.ts';
import type { CodePosition, SourcePosition, SourcePositionList } from './position.ts';
import { positionsOfStackTrace } from './stack-trace.ts';

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
export function positionsByHost(positions: readonly CodePosition[]): SourcePositionList {
  const prepareStackTrace = attempt(hostFunction);
  if (prepareStackTrace === undefined || positions.length === 0) return [];
  const asked = positions.slice(0, MAX_SITES);
  const trace: unknown = attempt(() =>
    prepareStackTrace.call(
      RealmError,
      new RealmError(),
      asked.map((position) => new Site(position) as unknown as NodeJS.CallSite),
    ),
  );
  if (typeof trace !== 'string') return [];
  const frames = trace.split(FRAME).slice(1);
  if (frames.length !== asked.length) return [];
  return asked.map((position, i) => toSource(position, frames[i] as string));
}

function toSource({ line, column }: CodePosition, frame: string): SourcePosition | undefined {
  const [found] = positionsOfStackTrace(frame);
  if (found === undefined || (found.line === line && found.column === column)) return undefined;
  return { file: toPath(found.file), line: found.line, column: found.column };
}

/** `source-map-support` copies the methods of its prototype. */
class Site {
  constructor(private readonly position: CodePosition) {}
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
const OTHER_METHODS = {
  null: [
    'getThis',
    'getFunction',
    'getEvalOrigin',
    'getTypeName',
    'getMethodName',
    'getPromiseIndex',
  ],
  false: ['isEval', 'isNative', 'isConstructor', 'isAsync', 'isPromiseAll'],
};
for (const [value, names] of Object.entries(OTHER_METHODS)) {
  for (const name of names)
    Object.defineProperty(Site.prototype, name, { value: () => JSON.parse(value) });
}
