import { blockAttributes } from '../../src/core/emit/block-attributes.ts';
import type { EventLoopBlock } from '../../src/types.ts';

const MAIN = { id: 0, name: 'main' };

const FULL: EventLoopBlock = {
  kind: 'pile-up',
  startTimeMillis: 1_700_000_000_000,
  durationMillis: 250,
  callbacks: 7,
  asyncResourceType: 'Timeout',
  cpuTimeMillis: 240,
  gcTimeMillis: 12,
  stalledSpans: 3,
  samples: 5,
  code: {
    functionName: 'hashRow',
    file: '/app/report.js',
    line: 31,
    column: 18,
    stackTrace: '    at hashRow (/app/report.js:31:18)',
  },
  topFunctions: [
    { functionName: 'hashRow', share: 0.784 },
    { functionName: 'formatRow', share: 0.216 },
  ],
};

test('every fact is an attribute, times are in seconds', () => {
  expect(blockAttributes(FULL, MAIN)).toEqual({
    'event_loop.block.kind': 'pile-up',
    'event_loop.block.callbacks': 7,
    'event_loop.async_resource.type': 'Timeout',
    'event_loop.block.cpu_time': 0.24,
    'event_loop.block.gc_time': 0.012,
    'event_loop.block.stalled_spans': 3,
    'event_loop.block.samples': 5,
    'event_loop.block.top_functions': 'hashRow 78%, formatRow 22%',
    'code.function.name': 'hashRow',
    'code.file.path': '/app/report.js',
    'code.line.number': 31,
    'code.column.number': 18,
    'code.stacktrace': '    at hashRow (/app/report.js:31:18)',
    'thread.id': 0,
    'thread.name': 'main',
  });
});

test.each([
  ['file:///app/report%20a.mjs', '/app/report a.mjs'],
  ['/app/report%20a.js', '/app/report%20a.js'],
  ['webpack://app/./src/a.ts', 'webpack://app/./src/a.ts'],
])('the file path of %s is %s', (file, path) => {
  const code = { functionName: 'f', file, stackTrace: '' };
  expect(blockAttributes({ callbacks: 1, code }, MAIN)['code.file.path']).toBe(path);
});

test('facts that have been JSON give the same attributes', () => {
  expect(blockAttributes(JSON.parse(JSON.stringify(FULL)), MAIN)).toEqual(
    blockAttributes(FULL, MAIN),
  );
});
