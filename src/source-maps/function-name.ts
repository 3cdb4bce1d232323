/**
 * The name of a function in the source, if the generated code has another one. The source map has
 * names for tokens only; which token names the function is known from where V8 says that it starts.
 * Not found: the class in `e.render`, and in `new e` of a class.
 */
import type { GeneratedPosition } from './position.ts';
import type { SourceMap } from './source-map.ts';

/** The function's name is within so many bytes of its start. */
const MAX_DISTANCE = 300;
const IDENTIFIER = '[\\p{ID_Start}$_][\\p{ID_Continue}$\\u200c\\u200d]*';
const DECLARED = new RegExp(`^(?:async\\s+)?function\\s*\\*?\\s*(${IDENTIFIER})`, 'u');
const ASSIGNED = new RegExp(`(${IDENTIFIER})\\s*[=:]\\s*\\(?$`, 'u');
/** What V8 puts in front of a name. */
const NEW = 'new ';

/** The function starts at `function` or, if it is an arrow function, at its parameters. */
export function nameInSource(
  map: SourceMap,
  code: Buffer,
  { functionName = '', functionLine: line, functionColumn: column }: GeneratedPosition,
): string | undefined {
  const name = functionName.startsWith(NEW) ? functionName.slice(NEW.length) : functionName;
  if (name === '' || line === undefined || column === undefined) return undefined;
  const start = startOfLine(code, line);
  const at = start === undefined ? undefined : byteOfColumn(code, start, column);
  if (start === undefined || at === undefined) return undefined;
  const declared = DECLARED.exec(code.toString('utf8', at, at + MAX_DISTANCE));
  const before = code.toString('utf8', Math.max(start, at - MAX_DISTANCE), at);
  const assigned = ASSIGNED.exec(before);
  // Only a token with the name that V8 has is the function's.
  const found =
    declared === null
      ? assigned?.[1] === name && map.nameAt(line, column - assigned[0].length)
      : declared[1] === name && map.nameAt(line, column + declared[0].length - name.length);
  if (!found || found === name) return undefined;
  return name === functionName ? found : NEW + found;
}

function startOfLine(code: Buffer, line: number): number | undefined {
  let at = code[0] === 0xef && code[1] === 0xbb && code[2] === 0xbf ? 3 : 0;
  for (let i = 1; i < line; i++) {
    const newline = code.indexOf(0x0a, at);
    if (newline === -1) return undefined;
    at = newline + 1;
  }
  return at;
}

/** V8 counts UTF-16 code units: a character of four bytes is two of them. */
function byteOfColumn(code: Buffer, lineStart: number, column: number): number | undefined {
  let at = lineStart;
  for (let units = column - 1; units > 0; units--) {
    const byte = code[at];
    if (byte === undefined || byte === 0x0a) return undefined;
    at += byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0x80 ? 2 : 1;
    if (byte >= 0xf0) units--;
  }
  return at;
}
