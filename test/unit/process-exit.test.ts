import { ROOT_CONTEXT } from '@opentelemetry/api';
import type { StackFrame } from '../../src/block.ts';
import { isTeardown } from '../../src/exclude/process-exit.ts';

const frame = (functionName: string): StackFrame => ({
  functionName,
  file: '/app/a.js',
  line: 1,
  column: 1,
  isAsync: false,
  isOwn: false,
  isAtEntry: false,
  text: `${functionName} (/app/a.js:1:1)`,
});
const block = (resourceType: string | undefined, ...functions: (string | undefined)[]) => ({
  resourceType,
  samples: functions.map((functionName, time) => ({
    requestedAt: time,
    time,
    context: ROOT_CONTEXT,
    resourceType,
    frames: functionName === undefined ? [] : [frame(functionName)],
    weight: 1,
  })),
});

test.each([
  ['outside of every callback, without user code', block('PROCESS', undefined), true],
  ['the same, without a stack sample', block('PROCESS'), true],
  ['code of the application ran', block('PROCESS', undefined, 'drain'), false],
  ['a callback', block('Timeout', undefined), false],
  ['unknown', block(undefined), false],
])('%s', (_what, facts, expected) => expect(isTeardown(facts)).toBe(expected));
