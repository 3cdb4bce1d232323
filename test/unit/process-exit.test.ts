import { ROOT_CONTEXT } from '@opentelemetry/api';
import { isTeardown } from '../../src/detect/exclude/exclusions.ts';
import { stackFrame } from './support/stack-sample.ts';

const block = (resourceType: string | undefined, ...functions: (string | undefined)[]) => ({
  resourceType,
  samples: functions.map((functionName, time) => ({
    requestedAt: time,
    time,
    context: ROOT_CONTEXT,
    resourceType,
    frames: functionName === undefined ? [] : [stackFrame(functionName)],
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
