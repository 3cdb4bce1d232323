/**
 * A stack by the `Error` that the host uses. Guarantees: what the host has set is the same
 * before and after, and none of its functions is called. NO REGULAR EXPRESSION may run here: see
 * stack.ts.
 *
 * V8 walks the stack when it is captured, and makes its frames when they are read: then, and no
 * earlier, `prepareStackTrace` is asked for (observed on Node.js 20 to 26).
 */
type Prepare = (error: unknown, sites: NodeJS.CallSite[]) => unknown;

export type CapturedStack = { readonly stack?: unknown };

// Taken once: an application may replace them.
const { getOwnPropertyDescriptor, isExtensible } = Object;
/** The one that V8 asks, whatever the global of that name is. */
const HostError = Object.getPrototypeOf(TypeError) as ErrorConstructor;
const { captureStackTrace } = HostError;

/** Whose frames are read; undefined while nothing is. */
let read: CapturedStack | undefined;
/** The host's own function. */
let before: Prepare | undefined;
/** In a realm of `vm`, as jest has, the property is not there before it is set. */
const ABSENT: PropertyDescriptor = { value: undefined, writable: true };
let isAbsent = false;

const prepare: Prepare = (error, sites) => {
  if (error === read) return sites;
  // V8 has ended a reading half-way, by `vm` with a timeout: this is an error of the host's.
  putBack();
  return before?.(error, sites);
};

/** Undefined if the properties cannot be set for a moment. */
export function captureInThisRealm(
  below: (...args: never[]) => unknown,
  maxFrames: number,
): CapturedStack | undefined {
  const limit = plainProperty('stackTraceLimit');
  if (limit === undefined || plainProperty('prepareStackTrace') === undefined) return undefined;
  const captured: CapturedStack = {};
  // V8 ends no code in between: nothing of JavaScript is called.
  try {
    HostError.stackTraceLimit = maxFrames;
    captureStackTrace(captured, below);
  } finally {
    HostError.stackTraceLimit = limit.value as number;
    // It was not there. No function is called: there may be no stack left.
    if (limit === ABSENT) delete (HostError as Partial<typeof HostError>).stackTraceLimit;
  }
  return captured;
}

/** Undefined if it is not as it was when it was captured. */
export function readInThisRealm(captured: CapturedStack): NodeJS.CallSite[] | undefined {
  const prepared = plainProperty('prepareStackTrace');
  if (prepared === undefined) return undefined;
  // If `prepare` is still set, an earlier reading was ended half-way.
  if (prepared.value !== prepare) {
    before = prepared.value as Prepare | undefined;
    isAbsent = prepared === ABSENT;
  }
  read = captured;
  try {
    HostError.prepareStackTrace = prepare;
    const { stack } = captured;
    return Array.isArray(stack) ? stack : undefined;
  } finally {
    // Does what `putBack` does without a call: there may be no stack left.
    read = undefined;
    HostError.prepareStackTrace = before as NonNullable<typeof HostError.prepareStackTrace>;
    // It was not there. No function is called: there may be no stack left.
    if (isAbsent) delete (HostError as Partial<typeof HostError>).prepareStackTrace;
  }
}

/** Node.js finds the host's `Error` as the global one. Undefined if it cannot be set. */
function plainProperty(
  name: 'prepareStackTrace' | 'stackTraceLimit',
): PropertyDescriptor | undefined {
  if (getOwnPropertyDescriptor(globalThis, 'Error')?.value !== HostError) return undefined;
  const property = getOwnPropertyDescriptor(HostError, name);
  if (property === undefined) return isExtensible(HostError) ? ABSENT : undefined;
  return property.writable === true ? property : undefined;
}

function putBack(): void {
  read = undefined;
  HostError.prepareStackTrace = before as NonNullable<typeof HostError.prepareStackTrace>;
}
