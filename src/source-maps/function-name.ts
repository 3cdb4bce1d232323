/**
 * The name of a function in the source, where the generated code has another one. The source map
 * has names for tokens only; which token names the function is known from where V8 says that it
 * starts. Not found: the class in `e.render`, and in `new e` of a class.
 */
import type { SourceMapReader } from './decode.ts';

/** Bytes around the start of a function in which its name is. */
const BEFORE = 300;
const AFTER = 300;

const IDENTIFIER = '[\\p{ID_Start}$_][\\p{ID_Continue}$\\u200c\\u200d]*';
const DECLARED = new RegExp(`^(?:async\\s+)?function\\s*\\*?\\s*(${IDENTIFIER})`, 'u');
const ASSIGNED = new RegExp(`(${IDENTIFIER})\\s*[=:]\\s*\\(?$`, 'u');

/** What V8 puts in front of a name. */
const NEW = 'new ';

/**
 * @param line line and column of the function's start, from 1: `function` or, of an arrow
 * function, its parameters
 * @param name its name as V8 has it; only a token with the same name is the function's
 */
export function nameInSource(
  map: SourceMapReader,
  code: Buffer,
  line: number,
  column: number,
  name: string,
): string | undefined {
  const lineStart = startOfLine(code, line);
  if (lineStart === undefined) return undefined;
  const at = byteOfColumn(code, lineStart, column);
  if (at === undefined) return undefined;
  const bare = name.startsWith(NEW) ? name.slice(NEW.length) : name;
  const after = code.toString('utf8', at, Math.min(code.length, at + AFTER));
  const declared = DECLARED.exec(after);
  let tokenColumn: number | undefined;
  if (declared !== null) {
    if (declared[1] === bare) tokenColumn = column + declared[0].length - bare.length;
  } else {
    const assigned = ASSIGNED.exec(code.toString('utf8', Math.max(lineStart, at - BEFORE), at));
    if (assigned?.[1] === bare) tokenColumn = column - assigned[0].length;
  }
  if (tokenColumn === undefined) return undefined;
  const found = map.nameAt(line, tokenColumn);
  if (found === undefined || found === '' || found === bare) return undefined;
  return name === bare ? found : NEW + found;
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

/** V8 counts UTF-16 code units. */
function byteOfColumn(code: Buffer, lineStart: number, column: number): number | undefined {
  let units = column - 1;
  let at = lineStart;
  while (units > 0) {
    const byte = code[at];
    if (byte === undefined || byte === 0x0a) return undefined;
    if (byte < 0x80) {
      at++;
      units--;
    } else {
      at += byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      units -= byte >= 0xf0 ? 2 : 1;
    }
  }
  return units === 0 ? at : undefined;
}
