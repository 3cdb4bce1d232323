/**
 * Whether a function, where it is on a stack, only calls or awaits a function that it was given: a
 * middleware and its `next()`. What runs is then not its own.
 *
 * Guarantees: it reads the text of the code from its file, once for each position, and only in a
 * thread that may; nothing is thrown.
 */
import { isAbsolute } from 'node:path';
import type { StackFrame } from '../../../block.ts';
import { type CodeText, readCode } from '../../../support/code-text.ts';
import { toPath } from '../../../support/file-url.ts';
import { mayRead } from '../../../support/reading.ts';

/** Those of some 100 blocks with stacks of 50 different frames. */
const MAX_KNOWN_POSITIONS = 5000;
/** Longer calls and lists of parameters are cut. */
const MAX_LENGTH = 400;

type Place = Partial<
  Pick<StackFrame, 'file' | 'line' | 'column' | 'functionLine' | 'functionColumn' | 'passesOn'>
>;

const known = new Map<string, boolean>();
const keyOf = ({ file, line, column }: Place) => `${file}:${line}:${column}`;

export function passesOn(place: Place): boolean {
  const answer = place.passesOn ?? known.get(keyOf(place));
  if (answer !== undefined) return answer;
  const code = codeOf(place);
  if (code === undefined) return false;
  const read = passesOnIn(code, place);
  if (known.size >= MAX_KNOWN_POSITIONS) known.clear();
  known.set(keyOf(place), read);
  return read;
}

function codeOf({ file = '' }: Place): CodeText | undefined {
  const path = toPath(file);
  return isAbsolute(path) && mayRead() ? readCode(path) : undefined;
}

/** Whether the call at this place is of `split` by a text, and so of no regular expression. */
export function splitsByText(place: Place): boolean {
  const code = codeOf(place);
  const call = code?.offsetOf(place.line, place.column);
  return call !== undefined && /^split\s*\(\s*['"`]/.test(code?.text.slice(call, call + 40) ?? '');
}

function passesOnIn(code: CodeText, { line, column, functionLine, functionColumn }: Place) {
  const call = code.offsetOf(line, column);
  if (call === undefined) return false;
  return ofCall(code.text, call, code.offsetOf(functionLine, functionColumn) ?? -1);
}

/**
 * Whether the call at `at`, in a function that begins at `begin` and has a parameter `go`, is
 * `go(…)`, `await go(…)`, `go.next(…)`, or `run(() => go(…))`; by convention also `next(…)` and
 * `next.handle(…)`, which may be a parameter of the function around it. V8 has the position of a
 * call of a method at the method's name, and of an `await` at that word.
 */
function ofCall(text: string, at: number, begin: number): boolean {
  const parameters = ['next', ...parametersAt(text.slice(begin, begin + MAX_LENGTH))];
  const [object = ''] = /[\w$.]*$/.exec(text.slice(Math.max(begin, at - MAX_LENGTH), at)) ?? [];
  const call = object + text.slice(at, at + MAX_LENGTH);
  const names = parameters.map((name) => name.replaceAll('$', '\\$')).join('|');
  const given = `(?:(?:${names})(?:\\??\\.(?:next|call|apply))?|next\\.\\w+)\\s*(?:\\?\\.)?\\(`;
  const start = '^(?:await\\s+)?\\(*';
  const callee = '[\\w$.]+\\([^()]*';
  const arrow = '\\(\\)\\s*=>\\s*(?:await\\s+)?';
  return new RegExp(`${start}(?:${callee}${arrow})?${given}`).test(call);
}

/** Parameters of the function that `text` begins with, and names in their types and defaults. */
function parametersAt(text: string): string[] {
  const arrow = /^(?:async\s+)?([\w$]+)\s*=>/.exec(text);
  if (arrow !== null) return [arrow[1] as string];
  const start = text.indexOf('(');
  let depth = 0;
  for (let i = start; i < text.length && i !== -1; i++) {
    if (text[i] === '(') depth++;
    else if (text[i] === ')' && --depth === 0)
      return [...new Set(text.slice(start + 1, i).match(/[\w$]+/g))];
  }
  return [];
}
