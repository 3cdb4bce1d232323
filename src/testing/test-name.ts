/** What the blocks of a test stand under, in a baseline and in a job summary. */
import { toPath } from '../support/file-url.ts';
import { relativeTo } from './baseline.ts';

export interface TestName {
  readonly name: string;
  /** No other call has it: what this one has not seen is gone. */
  readonly isOfOneCall: boolean;
}

const FRAME = /^\s*at (?:async )?(?:.*\()?(.+?):\d+:\d+\)?$/;

/**
 * 1. The name that is given.
 * 2. File and name of the test, under jest and under vitest with globals.
 * 3. The file of the caller.
 * @param folder paths start there
 */
export function nameOfTest(given: string | undefined, folder: string, callSite: Error): TestName {
  if (given !== undefined) return { name: given, isOfOneCall: true };
  const { currentTestName, testPath } = stateOfRunner();
  const file = typeof testPath === 'string' ? testPath : callerOf(callSite);
  const path = file === undefined ? [] : [relativeTo(folder, file)];
  if (typeof currentTestName !== 'string') return { name: path[0] ?? 'tests', isOfOneCall: false };
  return { name: [...path, currentTestName].join(' > '), isOfOneCall: true };
}

/** jest has `expect` as a global, and vitest if its `globals` are on. */
function stateOfRunner(): { currentTestName?: unknown; testPath?: unknown } {
  const { expect } = globalThis as { expect?: { getState?: () => object } };
  try {
    return expect?.getState?.() ?? {};
  } catch {
    return {};
  }
}

function callerOf({ stack = '' }: Error): string | undefined {
  const frame = stack.split('\n').find((line) => FRAME.test(line));
  const [, file] = FRAME.exec(frame ?? '') ?? [];
  return file && toPath(file);
}
