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
/** `a`, `a, { b as c }`, `{ b as c }`, `*`, `* as a`, of another file of the same package. */
const CLAUSE = [
  String.raw`\*(?:\s*as\s+[\w$]+)?`,
  String.raw`[\w$]+(?:\s*,\s*(?:\{[^}]*\}|\*\s*as\s+[\w$]+))?`,
  String.raw`\{[^}]*\}`,
].join('|');
const FROM_FILE = new RegExp(
  String.raw`\b(export|import)\s*(${CLAUSE})\s*\bfrom\s*(['"])(\.[^'"]*)\3`,
  'g',
);

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

/**
 * @param url of the module that is imported
 * @returns names of its exports, also of those that come from other files of its package
 */
export function reboundExports(url: string): string[] {
  return [...reboundIn(url, new Map())];
}

/** @param seen for each file that has been looked at, or is being, what was found so far */
function reboundIn(url: string, seen: Map<string, Set<string>>): Set<string> {
  const known = seen.get(url);
  if (known !== undefined) return known;
  const rebound = new Set<string>();
  seen.set(url, rebound);
  const code = seen.size > MAX_FILES ? undefined : readCode(url);
  if (code === undefined) return rebound;
  const ownExports = exportsOf(code);
  const assigned = assignedLater(code, new Set(ownExports.values()));
  for (const [name, local] of ownExports) if (assigned.has(local)) rebound.add(name);
  for (const [, keyword, clause = '', , file = ''] of code.matchAll(FROM_FILE)) {
    const reboundThere = () => reboundIn(new URL(file, url).href, seen);
    if (keyword === 'export' && clause === '*') {
      for (const name of reboundThere()) if (name !== 'default') rebound.add(name);
    }
    for (const [name, there] of namesFrom(clause)) {
      // What is imported may be exported, too. Most is not, and its file does not matter.
      const names = keyword === 'export' ? [name] : namesOf(ownExports, name);
      if (names.length > 0 && reboundThere().has(there))
        for (const each of names) rebound.add(each);
    }
  }
  return rebound;
}

/** For each name in the clause of an import or export, the one that the other file exports. */
function* namesFrom(clause: string): Generator<[name: string, there: string]> {
  const [, byDefault, list] = /^([\w$]+)?[^{]*(?:\{([^}]*)\})?/.exec(clause) ?? [];
  if (byDefault !== undefined) yield [byDefault, 'default'];
  for (const [there, name] of listed(list ?? '')) yield [name, there];
}

/** The names before and after `as`, for each part of `a, b as c`. */
function listed(list: string): [before: string, after: string][] {
  return list.split(',').map((each) => {
    const [before = '', after = before] = each.trim().split(/\s+as\s+/);
    return [before, after];
  });
}

function namesOf(exports: ReadonlyMap<string, string>, local: string): string[] {
  return [...exports].filter(([, each]) => each === local).map(([name]) => name);
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

/** For each name that is exported, the one that the code itself has. */
function exportsOf(code: string): Map<string, string> {
  const names = new Map<string, string>();
  for (const [, list = ''] of code.matchAll(DECLARATION)) {
    for (const [, name = ''] of list.matchAll(DECLARED_NAME)) names.set(name, name);
  }
  for (const [, name = ''] of code.matchAll(FUNCTION_OR_CLASS)) names.set(name, name);
  for (const [, list = ''] of code.matchAll(LIST)) {
    for (const [local, name] of listed(list)) names.set(name, local);
  }
  return names;
}

/** Names that code inside a function assigns to: it runs when the module has been evaluated. */
function assignedLater(code: string, names: ReadonlySet<string>): Set<string> {
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
      // A line that ends with the arrow continues.
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
  return assigned;
}
