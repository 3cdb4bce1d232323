/**
 * Which modules assign to their exports after they have been evaluated: `export let render = …;
 * export function install(f) { render = f }`. Whoever imports such a module has to see the new
 * value, and the wrapper that makes a module patchable copies the exports once.
 *
 * A scan of the source, not a parser. A module of which it says so by mistake is not instrumented.
 */
import { readFileSync } from 'node:fs';

const SOURCE_FILE = /^file:.*\.m?[jt]s$/;
const IN_BRACKETS = /\[(?:\\.|[^\]\\\n])*\]/.source;
/** Comments, strings, templates and regular expressions. */
const NO_CODE = new RegExp(
  [
    String.raw`\/\/[^\n]*|\/\*[\s\S]*?\*\/`,
    String.raw`'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"`,
    '`(?:\\\\[\\s\\S]|[^`\\\\])*`',
    // A regular expression: after what no division can follow.
    String.raw`(?<=(?:[(,=:[!&|?{};\n]|\breturn)\s*)\/(?:\\.|${IN_BRACKETS}|[^/\\\n[])+\/[a-z]*`,
  ].join('|'),
  'g',
);
const RELATIVE_SPECIFIER = /^(['"])\.[\w./@~+-]*\1$/;

const DECLARATION = /\bexport\s+(?:let|var)\s+([^;\n]+)/g;
const DECLARED_NAME = /(?:^|,)\s*([\w$]+)\s*(?=[=,]|$)/g;
const FUNCTION_OR_CLASS = /\bexport\s+(?:async\s+)?(?:function\b\s*\*?|class\b)\s*([\w$]+)/g;
const LIST = /\bexport\s*\{([^}]*)\}(?!\s*from\b)/g;
/** Of another file of the same package: what is imported may be exported, too. */
const FROM_FILE = /\b(?:export|import)\b[^'"`;()]*?\bfrom\s*(['"])(\.[^'"]*)\1/g;

const ASSIGNMENT = String.raw`(?:\+\+|--|\s*(?:\*\*|>>>?|<<|&&|\|\||\?\?|[-+*/%&|^])?=(?![=>]))`;
const TOKEN = new RegExp(
  String.raw`=>|[(){};\n]|(?<![.\w$])([\w$]+)(${ASSIGNMENT})?|(?:\+\+|--)\s*([\w$]+)`,
  'g',
);
const DECLARES = new Set(['let', 'const', 'var']);
/** What follows these in parentheses is a block of the code around it. */
const CONTROLS = new Set(['if', 'for', 'while', 'switch', 'catch', 'with']);

/** A package has more files than this only if they are generated; they are not looked at. */
const MAX_FILES = 500;

/** @param url of the module that is imported; what it exports of other files counts as well */
export function reboundExports(url: string): string[] {
  const names: string[] = [];
  const seen = new Set([url]);
  for (const each of seen) {
    const code = readCode(each);
    if (code === undefined) continue;
    names.push(...assignedLater(code, exportedNames(code)));
    for (const [, , file] of code.matchAll(FROM_FILE)) {
      if (seen.size < MAX_FILES) seen.add(new URL(file as string, each).href);
    }
  }
  return names;
}

/** Undefined if it is no ES module: Node.js itself copies the exports of CommonJS. */
function readCode(url: string): string | undefined {
  if (!SOURCE_FILE.test(url)) return undefined;
  try {
    const source = readFileSync(new URL(url), 'utf8');
    if (!/\bexport\b/.test(source)) return undefined;
    return source.replace(NO_CODE, (text) => {
      if (text.startsWith('/*') || text.startsWith('//')) return ' ';
      return RELATIVE_SPECIFIER.test(text) ? text : '""';
    });
  } catch {
    // A file that Node.js itself does not find either, or of another loader.
    return undefined;
  }
}

function exportedNames(code: string): Set<string> {
  const names = new Set<string>();
  for (const [, list = ''] of code.matchAll(DECLARATION)) {
    for (const [, name = ''] of list.matchAll(DECLARED_NAME)) names.add(name);
  }
  for (const [, name = ''] of code.matchAll(FUNCTION_OR_CLASS)) names.add(name);
  for (const [, list = ''] of code.matchAll(LIST)) {
    for (const each of list.split(',')) names.add(each.trim().split(/\s+as\s+/)[0] as string);
  }
  return names;
}

/** Names that code inside a function assigns to: it runs when the module has been evaluated. */
function assignedLater(code: string, names: ReadonlySet<string>): string[] {
  const assigned = new Set<string>();
  /** For each open brace, whether it is the body of a function. */
  const braces: boolean[] = [];
  /** For each open parenthesis, the word before it. */
  const parentheses: string[] = [];
  let functions = 0;
  let isInArrow = false;
  /** The token before; with parentheses, the word before them. */
  let before = '';
  let beforeEnd = 0;
  for (const match of code.matchAll(TOKEN)) {
    const [token, word, operator, increased] = match;
    const isNext = code.slice(beforeEnd, match.index).trim() === '';
    const previous = isNext ? before : '';
    before = word ?? token;
    beforeEnd = match.index + token.length;
    if (token === '(') parentheses.push(previous);
    else if (token === ')') before = `${parentheses.pop()})`;
    else if (token === '{') {
      const isBody =
        previous === '=>' || (previous.endsWith(')') && !CONTROLS.has(previous.slice(0, -1)));
      braces.push(isBody);
      functions += Number(isBody);
      isInArrow = false;
    } else if (token === '}') {
      functions -= Number(braces.pop() ?? false);
      isInArrow = false;
    } else if (token === '=>') isInArrow = true;
    else if (token === ';') isInArrow = false;
    else if (token === '\n') {
      // A line that ends with the arrow goes on.
      if (previous !== '=>') isInArrow = false;
      before = previous;
    } else {
      const name = increased ?? word ?? '';
      const isAssigned = increased !== undefined || operator !== undefined;
      if (isAssigned && !DECLARES.has(previous) && names.has(name)) {
        if (functions > 0 || isInArrow) assigned.add(name);
      }
    }
  }
  return [...assigned];
}
