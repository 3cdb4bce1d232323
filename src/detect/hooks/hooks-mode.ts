/** Which async hooks are in force, by what is asked for and what this runtime can do. */
import type { OnceLogger } from '../../otel/diag-once.ts';
import { canCountIterations } from '../../support/clock.ts';
import type { AsyncHooksMode } from '../../types.ts';

/** @param canCapture whether stack samples can be taken: without them, nothing arms hooks */
export function resolveHooksMode(
  wanted: AsyncHooksMode,
  canCapture: boolean,
  log: OnceLogger,
): AsyncHooksMode {
  if (wanted === 'off') return 'off';
  if (!canCountIterations) {
    log.log(
      'warn',
      'this runtime does not count loop iterations (Node.js 20.18 and 22.8 do): ' +
        'asyncHooks is off, and utilization is unknown',
    );
    return 'off';
  }
  return canCapture ? wanted : 'always';
}
