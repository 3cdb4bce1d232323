/**
 * Whether a function, where it is on a stack, only calls or awaits a function that it was given: a
 * middleware and its `next()`. What runs is then not its own.
 *
 * Guarantees: it reads the text of the code from its file, at most 1 MiB, once for each position;
 * nothing is thrown.
 */
import { readFileSync, statSync } from 'node:fs';
import type { StackFrame } from '../block.ts';
import { toPath } from '../support/file-url.ts';
import { tracesSyncIo } from '../support/schedstat.ts';

/** Larger files are bundles, of which each look would take milliseconds. */
const MAX_FILE_LENGTH = 1 << 20;
const MAX_KNOWN_POSITIONS = 1000;
/** Longer calls and lists of parameters are cut. */
const MAX_LENGTH = 400;

const known = new Map<string, boolean>();

export function passesOn(frame: StackFrame): boolean {
  if (frame.passesOn !== undefined) return frame.passesOn;
  const { file = '', line, column, functionLine, functionColumn } = frame;
  const key = `${file}:${line}:${column}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  let answer = false;
  try {
    const path = toPath(file);
    if (!tracesSyncIo() && statSync(path).size <= MAX_FILE_LENGTH) {
      const text = readFileSync(path, 'utf8');
      const call = offsetOf(text, line, column);
      answer = ofCall(text, call, offsetOf(text, functionLine, functionColumn));
    }
  } catch {
    // Code that is in no file, or that the process may not read.
  }
  if (known.size >= MAX_KNOWN_POSITIONS) known.clear();
  known.set(key, answer);
  return answer;
}

/** Lines and columns count from 1. */
function offsetOf(text: string, line = 0, column = 0): number {
  let start = 0;
  for (let i = 1; i < line; i++) start = text.indexOf('\n', start) + 1;
  return start + column - 1;
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
