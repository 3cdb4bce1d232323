/**
 * The stack of what runs right now, as structured frames: captured at once, and read later.
 *
 * V8 asks `Error` for `stackTraceLimit`, and when the stack is read for `prepareStackTrace`. Each
 * is set for the moment, in which nothing else runs. If the host has frozen them, or made them
 * accessors, there are no frames.
 *
 * NO REGULAR EXPRESSION may run in a capture, neither here nor in anything that it calls, Node.js'
 * own `url` included. A capture may happen in the middle of one of the host's, and V8 has one
 * backtrack stack for both: the inner one can free it under the outer (a crash, observed on Node.js
 * 26 with a large one), and it would change the host's `RegExp.$1`.
 */
import type { CodePosition, StackFrame } from '../../block.ts';
import {
  fileOf,
  isEvaluatedText,
  MAX_CAPTURED_FRAMES,
  placeOf,
  toFrames,
} from '../explain/name/frame.ts';
import { isNodeFile } from '../explain/name/in-app.ts';
import { callsHooks } from '../explain/name/stack-path.ts';
import { findOwnCode } from './own-code.ts';
import { captureInThisRealm, readInThisRealm } from './stack-in-this-realm.ts';

/** Source URL of what the watchdog thread has evaluated: frames inside it are the capture's own. */
export const CAPTURE_URL = 'node:opentelemetry-instrumentation-event-loop';

export interface TakenStack {
  frames(): StackFrame[];
  /** Whether a stack sample runs on an empty stack: the loop waits. */
  isEmpty(): boolean;
  /** Whether a block can be named by it, as `hasNamedCode` says of frames; they are not made. */
  showsCode(): boolean;
}

let isOwn: ((place: CodePosition) => boolean) | undefined;

function positionOfCaller(): CodePosition | undefined {
  const site = sitesBelow(positionOfCaller)()[0];
  return site && placeOf(site);
}

/** The frames of the running stack, innermost first, from this function's caller. */
export function captureStack(): StackFrame[] {
  return framesOf(sitesBelow(captureStack));
}

/**
 * Captures the stack, and makes its frames when they are asked for. Until then functions on the
 * stack, and their receivers, are kept alive.
 */
export function takeStack(): TakenStack {
  const sites = sitesBelow(takeStack);
  return {
    frames: () => framesOf(sites),
    isEmpty: () => {
      const outermost = sites().at(-1);
      return outermost !== undefined && fileOf(outermost) === CAPTURE_URL;
    },
    showsCode: () => showsCode(sites()),
  };
}

const framesOf = (sites: () => NodeJS.CallSite[]) => toFrames(sites(), isOwnPlace);

function isOwnPlace(place: CodePosition): boolean {
  isOwn ??= findOwnCode(positionOfCaller);
  return isOwn(place);
}

/** Begins with the outermost frames: one of the first is nearly always the application's. */
function showsCode(sites: readonly NodeJS.CallSite[]): boolean {
  for (let i = sites.length - 1; i >= 0; i--) {
    const site = sites[i] as NodeJS.CallSite;
    const file = fileOf(site);
    if (file === undefined && isEvaluatedText(site)) return true;
    if (file === undefined || isNodeFile(file)) continue;
    if (!isOwnPlace(lazily(site, file))) return true;
    const caller = sites[i + 1];
    if (caller !== undefined && callsHooks(fileOf(caller))) return false;
  }
  return false;
}

/** At the first line number of a script V8 looks for all of its lines: 4.7 ms for 6.5 MB. */
const lazily = (site: NodeJS.CallSite, file: string): CodePosition => ({
  file,
  get line() {
    return placeOf(site).line;
  },
  get column() {
    return placeOf(site).column;
  },
});

function sitesBelow(callee: (...args: never[]) => unknown): () => NodeJS.CallSite[] {
  const captured = captureInThisRealm(callee, MAX_CAPTURED_FRAMES);
  return () => (captured && readInThisRealm(captured)) ?? [];
}
