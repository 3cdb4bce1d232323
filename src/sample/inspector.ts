/** Whether a debugger can be attached, and whether the inspector can be used. */

type Inspector = { url(): string | undefined };

// Not imported: there are builds of Node.js without it.
const inspector = (() => {
  try {
    const { getBuiltinModule } = process as { getBuiltinModule?: (id: string) => unknown };
    return getBuiltinModule?.('node:inspector') as Inspector | undefined;
  } catch {
    return undefined;
  }
})();

/** In a worker thread, Node.js does not say it: the watchdog thread asks the main thread. */
let isProcessInspected = false;

export function noteInspected(isInspected: boolean): void {
  isProcessInspected = isInspected;
}

/** Whether a debugger can be attached. */
export function isInspected(): boolean {
  return isProcessInspected || inspector?.url() !== undefined;
}

/** Why no stack sample can be taken here, or undefined where it can. */
export function whyNoCapture(): string | undefined {
  if (!process.features.inspector) return 'this Node.js has no inspector';
  // Connecting nevertheless ends the process, in C++ (observed on Node.js 20 to 26).
  const { permission } = process as { permission?: { has(scope: string): boolean } };
  if (permission?.has('inspector') === false)
    return 'the permission model does not allow the inspector';
  // Nor does Node.js make an inspector for the process that runs `node --test`, and there, too,
  // connecting ends it. The processes of the test files have one.
  if (process.execArgv.includes('--test')) return 'the test runner of Node.js has no inspector';
  return undefined;
}
