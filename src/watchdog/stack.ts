/**
 * The stack of what runs right now, as structured frames.
 *
 * Taken in a realm of its own (a `vm` context): V8 asks the `Error` of the realm that captures for
 * `stackTraceLimit` and `prepareStackTrace`, so whatever the host did to its own, replaced, frozen,
 * zero, throwing, is neither noticed nor changed. Frames of all realms are in it.
 *
 * NO REGULAR EXPRESSION may run in a capture, neither here nor in anything that it calls, Node.js'
 * own `url` included. A capture may happen in the middle of one of the host's, and V8 has one
 * backtrack stack for both: the inner one can free it under the outer (a crash, seen on Node.js 26
 * with a large one), and it would change the host's `RegExp.$1`.
 */
import { runInNewContext } from 'node:vm';
import type { CodePosition, StackFrame } from '../block.ts';
import { findOwnCode } from './own-code.ts';

const MAX_FRAMES = 64;

/** Source URL of what the watchdog thread has evaluated: frames inside it are the capture's own. */
export const CAPTURE_URL = 'node:opentelemetry-instrumentation-event-loop';

type Capture = (below: (...args: never[]) => unknown) => NodeJS.CallSite[];

const SOURCE = `'use strict';
Error.stackTraceLimit = ${MAX_FRAMES};
Error.prepareStackTrace = (_error, sites) => sites;
(below) => {
  const holder = {};
  Error.captureStackTrace(holder, below);
  return holder.stack;
}`;

let capture: Capture | undefined;
let isOwn: (place: CodePosition) => boolean = () => false;

/** Makes the realm, some 1 ms, while nothing blocks. Otherwise {@link captureStack} does it. */
export function prepareCapture(): void {
  if (capture !== undefined) return;
  capture = runInNewContext(SOURCE, undefined, {
    contextName: 'opentelemetry-instrumentation-event-loop',
    contextCodeGeneration: { strings: false, wasm: false },
  }) as Capture;
  isOwn = findOwnCode(positionOfCaller);
}

function positionOfCaller(): CodePosition | undefined {
  const site = sitesBelow(positionOfCaller)[0];
  return site && positionOf(site);
}

/** The frames of the running stack, innermost first, from this function's caller; at most 64. */
export function captureStack(): StackFrame[] {
  prepareCapture();
  return sitesBelow(captureStack).map(toFrame);
}

function sitesBelow(callee: (...args: never[]) => unknown): NodeJS.CallSite[] {
  const sites = (capture as Capture)(callee);
  return Array.isArray(sites) ? sites : [];
}

function positionOf(site: NodeJS.CallSite): CodePosition {
  return {
    file: fileOf(site),
    line: site.getLineNumber() ?? undefined,
    column: site.getColumnNumber() ?? undefined,
  };
}

function toFrame(site: NodeJS.CallSite): StackFrame {
  const position = positionOf(site);
  return {
    functionName: functionNameOf(site),
    ...position,
    isOwn: isOwn(position),
    isAsync: (site as { isAsync?(): boolean }).isAsync?.() ?? false,
    isAtEntry: isAtEntry(site),
    text: String(site),
  };
}

/** What may stand between the start of a function and its parameters, beside its name. */
const MAX_FUNCTION_PREFIX = 'async function* '.length;

/**
 * V8 interrupts a function that is being called at its parameters, next to its start (seen on
 * Node.js 20 to 26).
 */
function isAtEntry(site: NodeJS.CallSite): boolean {
  const { getEnclosingLineNumber, getEnclosingColumnNumber } = site as {
    getEnclosingLineNumber?(): number | null;
    getEnclosingColumnNumber?(): number | null;
  };
  const startLine = getEnclosingLineNumber?.call(site) ?? undefined;
  const startColumn = getEnclosingColumnNumber?.call(site) ?? undefined;
  if (startLine === undefined || startColumn === undefined || site.getLineNumber() !== startLine)
    return false;
  const offset = (site.getColumnNumber() ?? Number.NaN) - startColumn;
  return offset >= 0 && offset <= MAX_FUNCTION_PREFIX + (site.getFunctionName()?.length ?? 0);
}

/** Receivers that say nothing about a function. */
const PLAIN_RECEIVERS = ['Object.', 'Module.', 'global.'];

/** V8's own name for a method, up to the blank: `Object.render [as run] (/app/render.js:1:2)`. */
function methodNameOf(text: string): string {
  const end = text.indexOf(' ');
  const name = end === -1 ? text : text.slice(0, end);
  const receiver = PLAIN_RECEIVERS.find((plain) => name.startsWith(plain));
  return receiver === undefined ? name : name.slice(receiver.length);
}

function functionNameOf(site: NodeJS.CallSite): string | undefined {
  const name = site.getFunctionName();
  if (name === null || name === '') return undefined;
  if (site.isConstructor()) return `new ${name}`;
  // A function that merely runs with some `this`, such as a timer's callback (`Timeout.send [as
  // _onTimeout]`), is not a method of it. It has the same name, however it is called.
  if (site.getMethodName() !== name || name.includes(' ')) return name;
  return methodNameOf(String(site)) || name;
}

function fileOf(site: NodeJS.CallSite): string | undefined {
  return site.getFileName() || site.getScriptNameOrSourceURL() || undefined;
}
