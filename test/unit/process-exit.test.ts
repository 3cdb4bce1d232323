import { isTeardown } from '../../src/exclude/process-exit.ts';
import type { Block } from '../../src/loop/ledger.ts';

const block = (resourceType: string | undefined, ...functions: (string | undefined)[]) =>
  ({
    resourceType,
    samples: functions.map((functionName) => ({ culprit: functionName && { functionName } })),
  }) as unknown as Block;

test.each([
  ['outside of every callback, without user code', block('PROCESS', undefined), true],
  ['the same, never captured', block('PROCESS'), true],
  ['code of the application was seen', block('PROCESS', undefined, 'drain'), false],
  ['a callback', block('Timeout', undefined), false],
  ['unknown', block(undefined), false],
])('%s', (_what, told, expected) => expect(isTeardown(told)).toBe(expected));
