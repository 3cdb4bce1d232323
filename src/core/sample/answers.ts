/**
 * Where a stack sample finds the function that answers it: in a constant of the global scope with a
 * random name. Such a constant is no property of `globalThis`: to read it calls no code of the
 * application, as an accessor `globalThis.process` would be, and the application cannot list it.
 */
import { randomUUID } from 'node:crypto';
import { runInThisContext } from 'node:vm';
import { attempt } from '../../support/guard.ts';
import { LOST } from './protocol.ts';
import { CAPTURE_URL } from './stack.ts';

type Answer = () => string | undefined;

const NAME = `eventLoop_${randomUUID().replaceAll('-', '_')}`;

/** One for all watchdogs of this copy of the package: V8 keeps such a constant for good. */
let answers: Record<string, Answer> | undefined;

/** @param key of the function, until `undefined` is set */
export function setAnswer(key: string, answer: Answer | undefined): void {
  attempt(() => {
    answers ??= runInThisContext(`const ${NAME} = { __proto__: null }; ${NAME}`) as typeof answers;
    if (answer === undefined) delete answers?.[key];
    else if (answers !== undefined) answers[key] = answer;
  });
}

/**
 * The text that is evaluated for a stack sample. It never changes, so V8 compiles it once.
 *
 * Whatever is thrown here is caught by a script that calls nothing then, or by the inspector.
 */
export function expressionFor(key: string): string {
  return `try {
  ${NAME}[${JSON.stringify(key)}]?.();
} catch {
  '${LOST}';
}
//# sourceURL=${CAPTURE_URL}`;
}
