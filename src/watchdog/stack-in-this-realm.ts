/**
 * A stack by the `Error` that the host uses. Promises: what the host has set is the same before and
 * after, and none of its functions is called. NO REGULAR EXPRESSION may run here: see stack.ts.
 */
import { MAX_CAPTURED_FRAMES } from '../code/frame.ts';

type Prepare = (error: unknown, sites: NodeJS.CallSite[]) => unknown;

/** What the properties were before the capture that runs. */
interface Before {
  readonly limit: unknown;
  readonly prepare: Prepare | undefined;
}

// Taken once: an application may replace them.
const { getOwnPropertyDescriptor } = Object;
/** The one that V8 asks, whatever the global of that name is. */
const HostError = Object.getPrototypeOf(TypeError) as ErrorConstructor;
const { captureStackTrace } = HostError;

/** What is captured for; undefined while nothing is. */
let holder: { stack?: unknown } | undefined;
let before: Before = { limit: undefined, prepare: undefined };

const prepare: Prepare = (error, sites) => {
  if (error === holder) return sites;
  // V8 has ended a capture half-way, by `vm` with a timeout: this is an error of the host's.
  putBack();
  return before.prepare?.(error, sites);
};

/** Undefined where the properties cannot be set for a moment. */
export function captureInThisRealm(
  below: (...args: never[]) => unknown,
): NodeJS.CallSite[] | undefined {
  // Node.js asks the global one.
  if (getOwnPropertyDescriptor(globalThis, 'Error')?.value !== HostError) return undefined;
  const limit = getOwnPropertyDescriptor(HostError, 'stackTraceLimit');
  const prepared = getOwnPropertyDescriptor(HostError, 'prepareStackTrace');
  if (limit?.writable !== true || prepared?.writable !== true) return undefined;
  // Otherwise an earlier capture was ended half-way.
  if (prepared.value !== prepare) before = { limit: limit.value, prepare: prepared.value };
  const own: { stack?: unknown } = {};
  holder = own;
  try {
    HostError.stackTraceLimit = MAX_CAPTURED_FRAMES;
    HostError.prepareStackTrace = prepare;
    captureStackTrace(own, below);
    // V8 may make it only now.
    const { stack } = own;
    return Array.isArray(stack) ? stack : undefined;
  } finally {
    // As putBack, and without a call: there may be no stack left.
    holder = undefined;
    HostError.stackTraceLimit = before.limit as number;
    HostError.prepareStackTrace = before.prepare as NonNullable<typeof HostError.prepareStackTrace>;
  }
}

function putBack(): void {
  holder = undefined;
  HostError.stackTraceLimit = before.limit as number;
  HostError.prepareStackTrace = before.prepare as NonNullable<typeof HostError.prepareStackTrace>;
}
