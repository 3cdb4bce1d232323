/** `recordFile`: what is reported is in it, and a file that cannot be written does no harm. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expectExit } from './support/expect-blocks.ts';
import { makeFolder, runApp } from './support/run-app.ts';

const RECORD_FILE = 'OTEL_INSTRUMENTATION_EVENT_LOOP_RECORD_FILE';

let folder: string;
beforeEach(() => {
  folder = makeFolder();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const read = (name: string) => readFileSync(path.join(folder, name), 'utf8').trim().split('\n');

test('each block of a thread, with its place, parent and stack samples', async () => {
  const run = await runApp('worker-thread.cjs', {
    env: { [RECORD_FILE]: path.join(folder, 'made', 'blocks-{pid}.jsonl') },
  });

  expectExit(run);
  const [block] = run.blocks;
  const worker = `made/blocks-${block?.pid}-worker-${run.notes['worker thread']}.jsonl`;
  const job = read(worker)
    .map((line) => JSON.parse(line))
    .find(({ said }) => said.parent === `${block?.traceId}-${block?.parentSpanId}`);
  // On a busy machine, a block may have no stack sample.
  expect(job.said.code?.functionName).toBe(block?.attributes['code.function.name']);
  expect(job.said.cause).toBe(block?.attributes['event_loop.block.cause']);
});

test('a file that cannot be written is logged once', async () => {
  const run = await runApp('worker-thread.cjs', { env: { [RECORD_FILE]: '/dev/null/blocks' } });

  expectExit(run);
  expect(run.blocks.length).toBeGreaterThan(0);
  const ours = run.diags.filter(({ message }) => message.includes('recordFile'));
  expect(ours).toHaveLength(1);
  expect(readdirSync(folder)).toEqual([]);
});
