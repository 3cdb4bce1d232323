/**
 * The name of a function in the source, if the generated code has another one. A source map has
 * names for tokens only; V8 says where the function starts, and so which token is its name. Names
 * that are not found: the class in `e.render`, and in `new e` of a class.
 */
import { type TraceMap, traceSegment } from '@jridgewell/trace-mapping';
import { boundedName } from '../../../support/bounded.ts';
import type { GeneratedPosition } from './position.ts';

/** The function's name is within this many characters of its start. */
const MAX_DISTANCE = 300;
const IDENTIFIER = '[\\p{ID_Start}$_][\\p{ID_Continue}$\\u200c\\u200d]*';
const DECLARED = new RegExp(`^(?:async\\s+)?function\\s*\\*?\\s*(${IDENTIFIER})`, 'u');
const ASSIGNED = new RegExp(`(${IDENTIFIER})\\s*[=:]\\s*\\(?$`, 'u');
/** V8 puts this in front of a constructor's name. */
const NEW = 'new ';

/** The function starts at `function` or, if it is an arrow function, at its parameters. */
export function nameInSource(
  map: TraceMap,
  lines: readonly string[],
  { functionName = '', functionLine = 0, functionColumn = 1 }: GeneratedPosition,
): string | undefined {
  const prefix = functionName.startsWith(NEW) ? NEW : '';
  const name = functionName.slice(prefix.length);
  const line = lines[functionLine - 1];
  if (name === '' || line === undefined) return undefined;
  const start = functionColumn - 1;
  const declared = DECLARED.exec(line.slice(start, start + MAX_DISTANCE));
  const assigned = ASSIGNED.exec(line.slice(Math.max(0, start - MAX_DISTANCE), start));
  const token = declared ?? assigned;
  // Only a token with the name that V8 has is the function's.
  if (token?.[1] !== name) return undefined;
  const column = declared ? start + declared[0].length - name.length : start - token[0].length;
  const [at, , , , index = -1] = traceSegment(map, functionLine - 1, column) ?? [];
  const found = at === column ? map.names[index] : undefined;
  if (found === undefined || found === name) return undefined;
  return prefix + boundedName(found);
}
