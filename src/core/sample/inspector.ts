/** Whether a debugger can be attached, and whether the inspector can be used. */
import { hasNodeFlag } from '../../support/schedstat.ts';

type Inspector = { url(): string | undefined };

// Some builds of Node.js have no inspector, so it is not imported.
const inspector = (() => {
  try {
    const { getBuiltinModule } = process as { getBuiltinModule?: (id: string) => unknown };
    return getBuiltinModule?.('node:inspector') as Inspector | undefined;
  } catch {
    return undefined;
  }
})();

/** Whether a debugger can be attached. Node.js does not tell a worker thread. */
export const isInspected = (): boolean => inspector?.url() !== undefined;

/** Why no stack sample can be taken here, or undefined if one can. */
export function whyNoCapture(): string | undefined {
  if (!process.features.inspector) return 'this Node.js has no inspector';
  // Connecting nevertheless ends the process, in C++ (observed on Node.js 20 to 26).
  const { permission } = process as { permission?: { has(scope: string): boolean } };
  if (permission?.has('inspector') === false)
    return 'the permission model does not allow the inspector';
  // The process that runs `node --test` has no inspector either, and connecting ends it, too. The
  // processes of the test files have one.
  if (process.execArgv.includes('--test')) return 'the test runner of Node.js has no inspector';
  // Near the end of the stack, V8 throws before a sample has begun, where nothing can catch it.
  if (hasNodeFlag('--abort-on-uncaught-exception'))
    return 'with --abort-on-uncaught-exception it could end the process';
  return undefined;
}
