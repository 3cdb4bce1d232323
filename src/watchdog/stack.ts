/**
 * The stack of what runs right now, as structured frames.
 *
 * Taken in a realm of its own (a `vm` context): V8 asks the `Error` of the realm that captures for
 * `stackTraceLimit` and `prepareStackTrace`, so what the host did to its own, replaced, frozen,
 * zero, throwing, is neither noticed nor changed. Frames of all realms are in it.
 *
 * NO REGULAR EXPRESSION may run in a capture, neither here nor in anything that it calls, Node.js'
 * own `url` included. A capture may happen in the middle of one of the host's, and V8 has one
 * backtrack stack for both: the inner one can free it under the outer (a crash, observed on Node.js
 * 26 with a large one), and it would change the host's `RegExp.$1`.
 */
import { runInNewContext } from 'node:vm';
import type { CodePosition, StackFrame } from '../block.ts';
import { MAX_CAPTURED_FRAMES, placeOf, toFrames } from '../code/frame.ts';
import { findOwnCode } from './own-code.ts';

/** Source URL of what the watchdog thread has evaluated: frames inside it are the capture's own. */
export const CAPTURE_URL = 'node:opentelemetry-instrumentation-event-loop';

type Capture = (below: (...args: never[]) => unknown) => NodeJS.CallSite[];

const SOURCE = `'use strict';
Error.stackTraceLimit = ${MAX_CAPTURED_FRAMES};
Error.prepareStackTrace = (_error, sites) => sites;
(below) => {
  const holder = {};
  Error.captureStackTrace(holder, below);
  return holder.stack;
}`;

let capture: Capture | undefined;
let isOwn: (place: CodePosition) => boolean = () => false;

/** Makes the realm, some 1 ms, for the first stack sample: see `CaptureClient.availability`. */
function prepareCapture(): void {
  if (capture !== undefined) return;
  capture = runInNewContext(SOURCE, undefined, {
    contextName: 'opentelemetry-instrumentation-event-loop',
    contextCodeGeneration: { strings: false, wasm: false },
  }) as Capture;
  isOwn = findOwnCode(positionOfCaller);
}

function positionOfCaller(): CodePosition | undefined {
  const site = sitesBelow(positionOfCaller)[0];
  return site && placeOf(site);
}

/** The frames of the running stack, innermost first, from this function's caller. */
export function captureStack(): StackFrame[] {
  prepareCapture();
  return toFrames(sitesBelow(captureStack), isOwn);
}

function sitesBelow(callee: (...args: never[]) => unknown): NodeJS.CallSite[] {
  const sites = (capture as Capture)(callee);
  return Array.isArray(sites) ? sites : [];
}
