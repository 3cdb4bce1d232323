/** What is kept for the report page: bounded, and what is left out first. */

import { ReportRecorder } from '../../../src/outputs/html-report/recorder.ts';
import { copies } from '../../../src/support/copies.ts';
import { requestMessage } from '../support/request-message.ts';

const frame = (name: string, line = 1) => ({ name, file: '/app/a.js', line, functionLine: 1 });
const blockOf = (durationMillis: number, startTimeMillis = durationMillis) => ({
  startTimeMillis,
  durationMillis,
  callbacks: 1,
  samples: 1,
});

function add(recorder: ReportRecorder, millis: number, name = 'f'): void {
  recorder.block(blockOf(millis), {}, [{ frames: [frame(name), frame('main')], millis }]);
}

test('the longest 10 000 blocks are kept, with their stacks; the summary counts all', () => {
  const recorder = new ReportRecorder();
  for (let i = 1; i <= 12_600; i++) add(recorder, i, `f${i}`);

  const { blocks, stacks, summary, dropped } = recorder.read();
  expect([summary.blocks, dropped.blocks]).toEqual([12_600, 2600]);
  expect(blocks).toHaveLength(10_000);
  expect(stacks.nodes.length / 2).toBe(10_001);
  const [node = -1, millis] = blocks[0]?.stacks ?? [];
  expect(stacks.frames[stacks.nodes[2 * node + 1] as number]?.[0]).toBe('f2601');
  expect(millis).toBe(2601);
});

test('requests that were stalled least are left out first', () => {
  copies().areRequestsKnown = true;
  const recorder = new ReportRecorder();
  for (let millis = 1; millis <= 3000; millis++) {
    recorder.request(requestMessage({ startTimeMillis: millis, stalledMillis: millis }));
  }

  const { requests = [], dropped } = recorder.read();
  expect(requests).toHaveLength(2000);
  expect(requests[0]?.stalledMillis).toBe(1001);
  expect(dropped.requests).toBe(1000);
});

test('of each request the longest waits are kept; how long it waited for all is', () => {
  copies().areRequestsKnown = true;
  const recorder = new ReportRecorder();
  const waits = Array.from({ length: 30 }, (_, i) => ({
    block: { startTimeMillis: 1_764_000_000_000.123 + i },
    millis: 70 - i,
  }));
  recorder.request(requestMessage({ stalledMillis: 900, waits: () => waits }));
  const [request] = recorder.read().requests ?? [];
  expect(request?.stalledMillis).toBe(900);
  expect(request?.waits.slice(0, 3)).toEqual([1_764_000_000_000.12, 70, 1_764_000_000_001.12]);
  expect(request?.waits).toHaveLength(2 * 20);
});

test('each request counts for its blocks, also one that is left out; once for each', () => {
  copies().areRequestsKnown = true;
  const recorder = new ReportRecorder();
  for (const startTimeMillis of [1000.001, 2000, 3000])
    recorder.block(blockOf(100, startTimeMillis), {}, []);
  const wait = (startTimeMillis: number, millis: number) => ({
    block: { startTimeMillis },
    millis,
  });
  const waitsFor = (count: number, ...waits: ReturnType<typeof wait>[]) => {
    const stalledMillis = waits.reduce((sum, { millis }) => sum + millis, 0);
    for (let i = 0; i < count; i++)
      recorder.request(requestMessage({ stalledMillis, waits: () => waits }));
  };
  waitsFor(1500, wait(1000.001, 100));
  waitsFor(2600, wait(2000, 200), wait(2000, 100), wait(500, 1));
  const { blocks, dropped } = recorder.read();
  expect(dropped.requests).toBe(2100);
  expect(blocks.map(({ waitedRequests }) => waitedRequests)).toEqual([1500, 2600, undefined]);
});
