/**
 * One frame of a stack, and how it is made from what V8 gives.
 *
 * Guarantees: a frame is plain data, which references nothing of the host's (a `CallSite` does: the
 * function and its receiver), its text is bounded, and a function has the same identity on every
 * stack.
 *
 * NO REGULAR EXPRESSION may run here: frames may be made inside a stack sample, see
 * `sample/stack.ts`.
 */
import type { CodePosition, StackFrame } from '../../../block.ts';
import {
  boundedFile,
  boundedName,
  cut,
  isLongFile,
  MAX_FILE_LENGTH,
  MAX_NAME_LENGTH,
} from '../../../support/bounded.ts';
import { isWasmFile } from './in-app.ts';
import { packageOf } from './packages.ts';

/**
 * The `Error.stackTraceLimit` of a stack sample. The outermost frames say what called, and
 * recursion or modules that require modules put hundreds above them. A stack of this many takes
 * 0.2 ms (Node.js 20) to 0.5 ms (24, 26), a usual stack takes as long as with any limit.
 */
export const MAX_CAPTURED_FRAMES = 1024;
/** Frames that are kept of it: to convert one takes longer than to capture it. */
const MAX_INNER_FRAMES = 64;
const MAX_OUTER_FRAMES = 32;
/**
 * Frames in between that a block may be named by are kept, this many at either end: a framework may
 * have 32 frames above the function that has called a library which recurs.
 */
const MAX_MIDDLE_FRAMES = 16;
const MAX_TEXT_LENGTH = MAX_NAME_LENGTH + MAX_FILE_LENGTH;

/** What may stand between the start of a function and its parameters, beside its name. */
const MAX_FUNCTION_PREFIX = 'async function* '.length;
/** V8's file of evaluated code. */
const ANONYMOUS = '<anonymous>';
/** Node.js' file of a `vm.Script` that was given none: whoever runs it is to be named. */
const VM_TEXT = 'evalmachine.<anonymous>';
/** Receivers that say nothing about a function. */
const PLAIN_RECEIVERS = ['Object.', 'Module.', 'global.'];
const ASYNC_PREFIX = 'async ';

/** Since Node.js 16; not in the types yet. */
interface NewerCallSite {
  isAsync?(): boolean;
  getPosition?(): number;
  getEnclosingLineNumber?(): number | null;
  getEnclosingColumnNumber?(): number | null;
}

export function fileOf(site: NodeJS.CallSite): string | undefined {
  const file = site.getFileName() || unquoted(site.getScriptNameOrSourceURL());
  return file === VM_TEXT ? undefined : boundedFile(file) || undefined;
}

/** Whether code without a file is text that was evaluated; a built-in has no name of a file. */
export function isEvaluatedText(site: NodeJS.CallSite): boolean {
  return site.isEval() || typeof site.getFileName() === 'string';
}

export function placeOf(site: NodeJS.CallSite): CodePosition {
  return {
    file: fileOf(site),
    line: site.getLineNumber() ?? undefined,
    column: site.getColumnNumber() ?? undefined,
  };
}

/** A template engine may quote it: EJS compiles `//# sourceURL="/app/views/list.ejs"`. */
function unquoted(sourceUrl: string | null): string {
  if (!sourceUrl?.startsWith('"') || !sourceUrl.endsWith('"')) return sourceUrl ?? '';
  if (isLongFile(sourceUrl)) return sourceUrl;
  return sourceUrl.slice(1, -1).replaceAll('\\\\', '\\');
}

/**
 * The frames of a stack, innermost first. In the middle of a deep stack, the application's are kept
 * and the outermost of each run of frames of a package; a frame in the place of the others says how
 * many.
 */
export function toFrames(
  sites: readonly NodeJS.CallSite[],
  isOwn: (place: CodePosition) => boolean,
): StackFrame[] {
  const end = sites.length - MAX_OUTER_FRAMES;
  const middle: number[] = [];
  let caller: string | undefined;
  for (let i = sites.length - 1; i >= MAX_INNER_FRAMES; i--) {
    const file = sites[i]?.getFileName();
    if (typeof file !== 'string' || file === '' || file.startsWith('node:')) continue;
    const callee = isLongFile(file) ? '' : packageOf(file);
    if (i < end && (callee === '' || callee !== caller)) middle.push(i);
    caller = callee;
  }
  const kept = new Set([
    ...middle.slice(0, MAX_MIDDLE_FRAMES),
    ...middle.slice(-MAX_MIDDLE_FRAMES),
  ]);
  const frames: StackFrame[] = [];
  let omitted = 0;
  for (const [i, site] of sites.entries()) {
    if (i >= MAX_INNER_FRAMES && i < end && !kept.has(i)) {
      omitted++;
      continue;
    }
    if (omitted > 0) frames.push(omittedFrames(omitted));
    omitted = 0;
    frames.push(toFrame(site, isOwn));
  }
  return frames;
}

function omittedFrames(count: number): StackFrame {
  return {
    functionName: undefined,
    file: undefined,
    line: undefined,
    column: undefined,
    functionLine: undefined,
    functionColumn: undefined,
    isAsync: false,
    isOwn: false,
    isAtEntry: false,
    isEvaluated: false,
    isBuiltin: false,
    text: `... ${count} more frames ...`,
  };
}

export function toFrame(
  site: NodeJS.CallSite & NewerCallSite,
  isOwn: (place: CodePosition) => boolean,
): StackFrame {
  const place = placeOf(site);
  const functionLine = site.getEnclosingLineNumber?.() ?? undefined;
  const functionColumn = site.getEnclosingColumnNumber?.() ?? undefined;
  const text = textOf(site, place);
  const isEvaluated = place.file === undefined && isEvaluatedText(site);
  return {
    functionName: functionNameOf(site, text),
    ...place,
    functionLine,
    functionColumn,
    offset: site.getPosition?.(),
    isAsync: site.isAsync?.() ?? false,
    isOwn: isOwn(place),
    isAtEntry: isAtEntry(place, functionLine, functionColumn, site.getFunctionName()?.length ?? 0),
    isEvaluated,
    isBuiltin: place.file === undefined && !isEvaluated,
    text,
  };
}

/** V8's own `toString` would copy a long name or file first. */
function textOf(site: NodeJS.CallSite, { file = ANONYMOUS, line, column }: CodePosition): string {
  const name = site.getFunctionName() ?? '';
  const isLong = name.length > MAX_NAME_LENGTH || isLongFile(site.getScriptNameOrSourceURL() ?? '');
  if (!isLong) return cut(String(site), MAX_TEXT_LENGTH);
  return `${boundedName(name)} (${file}:${line}:${column})`;
}

/**
 * V8 interrupts a function that is being called at its parameters (observed on Node.js 20 to 26),
 * which are next to its start.
 */
function isAtEntry(
  { file, line, column }: CodePosition,
  functionLine: number | undefined,
  functionColumn: number | undefined,
  nameLength: number,
): boolean {
  if (functionLine === undefined || functionColumn === undefined || line !== functionLine)
    return false;
  // Columns are bytes of the module there.
  if (file !== undefined && isWasmFile(file)) return false;
  const offset = (column ?? Number.NaN) - functionColumn;
  return offset >= 0 && offset <= MAX_FUNCTION_PREFIX + nameLength;
}

/**
 * `async Object.render [as run] (/app/render.js:1:2)`: V8's own name for a method, up to the first
 * blank.
 */
function methodNameOf(text: string): string {
  const start = text.startsWith(ASYNC_PREFIX) ? ASYNC_PREFIX.length : 0;
  const end = text.indexOf(' ', start);
  const name = end === -1 ? text.slice(start) : text.slice(start, end);
  const receiver = PLAIN_RECEIVERS.find((plain) => name.startsWith(plain));
  return receiver === undefined ? name : name.slice(receiver.length);
}

function functionNameOf(site: NodeJS.CallSite, text: string): string | undefined {
  const name = boundedName(site.getFunctionName() ?? '');
  if (name === '') return undefined;
  if (site.isConstructor()) return boundedName(`new ${name}`);
  // A listener or a timer's callback (`Timeout.send [as _onTimeout]`) is no method of its `this`,
  // though V8 shows it as one: the same function has to have the same name, however it is called.
  if (site.getMethodName() !== name || name.includes(' ')) return name;
  return boundedName(methodNameOf(text)) || name;
}
