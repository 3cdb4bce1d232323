/**
 * Tells a pause in the debugger from a block: the thread stands still although the wall clock goes on. A synchronous call that
 * waits (execSync, a slow disk) looks the same, so it is taken for a pause only while a debugger can be attached.
 */
import type { Block } from '../block.ts';

/** A paused thread uses hardly any CPU: the debugger's questions are answered on it. */
const MAX_CPU_SHARE = 0.1;

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

/** Whether a debugger can be attached. */
export function isInspected(): boolean {
  return inspector?.url() !== undefined;
}

/** Whether a block was most likely a pause in the debugger. */
export function isDebuggerPause({ start, end, cpu }: Pick<Block, 'start' | 'end' | 'cpu'>): boolean {
  return cpu < (end - start) * MAX_CPU_SHARE && isInspected();
}
