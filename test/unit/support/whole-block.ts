import type { EventLoopBlock } from '../../../src/types.ts';

/** A block with all that may be known. */
export const WHOLE_BLOCK: Required<EventLoopBlock> = {
  kind: 'callback',
  startTimeMillis: 1_700_000_000_000,
  durationMillis: 500,
  callbacks: 1,
  asyncResourceType: 'Timeout',
  cpuTimeMillis: 400,
  gcTimeMillis: 10,
  stalledSpans: 1,
  queuedSpans: 1,
  stalledRequests: 3,
  stalledMillis: 5,
  cause: 'native',
  nativeTimeMillis: 300,
  samples: 5,
  code: {
    functionName: 'load',
    file: '/app/load.js',
    line: 3,
    column: 5,
    functionLine: 1,
    functionColumn: 1,
    requires: '/app/heavy.js',
    stackTrace: '    at load (/app/load.js:3:5)\n',
  },
  nativeCall: { name: 'JSON.parse', size: 1000 },
  leaf: { functionName: 'parse' },
  requests: { operation: 'GET /posts', count: 12, share: 0.92 },
  expected: true,
  topFunctions: [{ functionName: 'load', share: 1 }],
};
