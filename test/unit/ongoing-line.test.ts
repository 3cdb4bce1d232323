import { ongoingLine } from '../../src/threads/ongoing/ongoing-line.ts';

// The paths in here are those of POSIX, wherever the tests run.
jest.mock('node:path', () => jest.requireActual<typeof import('node:path')>('node:path').posix);

const TIME = new Date('2026-01-02T03:04:05.678Z');
const report = {
  facts: undefined,
  time: 9000,
  ageMillis: 5230,
  canCapture: true,
};
const facts = {
  epochMillis: 0,
  startTimeMillis: 0,
  kind: 'callback',
  callbacks: 1,
  spanUnwanted: false,
  eventUnwanted: false,
  isExpected: false,
} as const;
const START = '2026-01-02T03:04:05.678Z event-loop-blocked for 5.2 s, not ended: ';

test.each([
  ['nothing is known', report, 'native code, pid 7'],
  ['no sample can be taken', { ...report, canCapture: false }, 'unknown code, pid 7'],
  [
    'all is known',
    {
      ...report,
      facts: {
        ...facts,
        code: {
          functionName: 'spin',
          file: 'file:///app/a.mjs',
          line: 3,
          column: 9,
          stackTrace: '',
        },
        parent: { traceId: 'aa', spanId: 'bb', traceFlags: 1 },
      },
    },
    'spin (/app/a.mjs:3:9), trace aa span bb, pid 7',
  ],
  [
    'evaluated code',
    { ...report, facts: { ...facts, code: { functionName: 'spin', stackTrace: '' } } },
    'spin, pid 7',
  ],
])('%s', (_what, given, text) => {
  expect(ongoingLine(given, TIME, 7, { id: 0, name: 'main' })).toBe(START + text);
});

test('in a worker thread it says which', () => {
  const line = ongoingLine(report, TIME, 7, { id: 3, name: 'resizer' });
  expect(line).toBe(`${START}native code, pid 7, thread 3 resizer`);
});
