/** The loop profile in one line for people. */

import { printable } from '../support/escape.ts';
import { duration, pathBelow, percent } from '../support/numbers.ts';
import type { LoopFunction, LoopProfile } from '../types.ts';

/** A share of fewer samples would say more than is known. */
const MIN_SAMPLES = 10;
const MAX_FUNCTIONS = 5;
const MAX_OPERATIONS = 3;
const MIN_SHARE = 0.02;

/**
 * `the loop was busy for 83 % of 60.0 s: renderList (lib/list.js) 34 %, JSON.parse in loadUser
 * (lib/user.js) 21 %, …; GET /list 48 %`; undefined if too little is known.
 */
export function profileLine(profile: LoopProfile, cwd: string): string | undefined {
  const { utilization, elapsedMillis, samples, functions, operations } = profile;
  if (samples < MIN_SAMPLES) return undefined;
  const shown = functions
    .filter(({ functionName, share }) => functionName !== undefined && share >= MIN_SHARE)
    .slice(0, MAX_FUNCTIONS)
    .map((used) => `${functionOf(used, cwd)} ${percent(used.share)}`);
  const known = shown.length < functions.length ? [...shown, '…'] : shown;
  const routes = operations
    .filter(({ name, share }) => name !== undefined && share >= MIN_SHARE)
    .slice(0, MAX_OPERATIONS)
    .map(({ name = '', share }) => `${printable(name)} ${percent(share)}`);
  const parts = [known.join(', '), routes.join(', ')].filter((part) => part !== '');
  const time = `${percent(utilization)} of ${duration(elapsedMillis)}`;
  return `the loop was busy for ${time}: ${parts.join('; ')}`;
}

function functionOf({ functionName = '', file, nativeCall }: LoopFunction, cwd: string): string {
  const place = file === undefined ? '' : ` (${printable(pathBelow(cwd, file), Infinity)})`;
  const name = `${printable(functionName)}${place}`;
  return nativeCall === undefined ? name : `${printable(nativeCall)} in ${name}`;
}
