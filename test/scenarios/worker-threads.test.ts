/** Worker threads have what the main thread has; the main thread need not have loaded anything. */
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import * as workerThreads from 'node:worker_threads';
import { OtlpReceiver } from '../../tools/otlp-receiver.cjs';
import { expectBlocks, expectNamed } from './support/expect-blocks.ts';
import { appFile, type Run, runApp } from './support/run-app.ts';
import { test } from './support/scenario.ts';
import { judgeUnlessDelayed, runDelayOf } from './support/validity.ts';

/** Node.js 22.20 and 24.6 say in a thread how it is named. */
const knowsName = 'threadName' in workerThreads;

/** The part of a run that the machine may take. */
const DELAY_MILLIS = 100;

function expectQuiet({ code, signal, stderr, diags }: Run): void {
  expect({ code, signal, stderr, diags }).toEqual({
    code: 0,
    signal: null,
    stderr: '',
    diags: [],
  });
}

test.each(['idle', 'busy'])(
  'the main thread is %s: the blocking function of a worker is named, in its context',
  async (mainThread) => {
    const cached = ['cached 1', 'cached 2', 'cached 3'];
    const run = await runApp('worker-captures.cjs', { asyncHooks: 'auto', args: [mainThread] });

    expectQuiet(run);
    expectBlocks(run, [
      { truth: 'function', kind: 'callback' },
      { truth: 'promises', kind: 'microtasks' },
      ...cached.map((truth) => ({ truth, kind: 'microtasks' as const })),
    ]);
    expectNamed(run, {
      function: 'resizeImages',
      promises: 'resizeStep',
      ...Object.fromEntries(cached.map((truth) => [truth, /^(sumPrices|get)$/])),
    });
    expect(run.blocks[0]?.attributes).toMatchObject({
      'code.file.path': appFile('worker-captures.cjs'),
      'thread.id': run.notes['worker thread'],
      'thread.name': knowsName ? 'resizer' : `worker-${run.notes['worker thread']}`,
    });
    // Of the thread that asks.
    expect(run.notes['health before']).toMatchObject({ blockedMillis: 0 });
    expect(run.notes['health after']).not.toMatchObject({ blockedMillis: 0 });
  },
);

test('tasks that a worker gets before it has loaded are named, from the second on', async () => {
  const run = await runApp('worker-queued.cjs');

  expectQuiet(run);
  const names: (string | null)[] = JSON.parse(run.stdout);
  expect(names.length).toBeGreaterThanOrEqual(6);
  expect(names.slice(1).filter((name) => name !== 'resizeImages')).toEqual([]);
});

test('a message is told with what has started the thread or process that sent it', async () => {
  const run = await runApp('messages.cjs');

  expectQuiet(run);
  const [ofThread, ofProcess] = run.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(ofThread).toContainEqual(['message', 'startThread']);
  expect(ofProcess).toContainEqual(['message', 'startProcess']);
});

test.each([
  ['terminate', '1'],
  ['process.exit', '7'],
  ['return', '0'],
])('%s while stack samples are taken: it ends, and nothing is printed', async (how, code) => {
  const run = await runApp('worker-ends.cjs', { args: [how] });

  expectQuiet(run);
  expect(run.stdout.trim().split('\n')).toEqual(Array(4).fill(code));
});

test('a process that sends itself a signal while stack samples are taken: it ends', async () => {
  for (const millis of [40, 52]) {
    const run = await runApp('worker-ends.cjs', { args: ['SIGTERM', String(millis)] });

    expect([run.signal, run.stdout]).toEqual(['SIGTERM', '']);
  }
});

test.each(['main', 'worker', 'SIGINT'])(
  'code in `vm` is ended while stack samples are due, %s: it ends, and nothing else does',
  async (thread) => {
    const run = await runApp('vm-timeouts.cjs', { args: [thread] });

    expectQuiet(run);
    expect([run.code, run.stdout]).toEqual([0, '80']);
  },
);

test('two workers that block at the same time have one watchdog thread, and another after its death', async () => {
  const run = await runApp('workers-share-watchdog.cjs', { asyncHooks: 'auto' });

  const names = {
    'first of a': 'resizeImages',
    'first of b': 'parseRows',
    'second of a': 'resizeImages',
    'second of b': 'parseRows',
  };
  expectQuiet(run);
  expect(JSON.parse(run.stdout)).toEqual([1, 2]);
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
    const named = run.truths.map(({ label, spanId }) => {
      const blocks = run.blocks.filter(({ parentSpanId }) => parentSpanId === spanId);
      return [label, ...blocks.map(({ attributes }) => attributes['code.function.name'])];
    });
    expect(Object.fromEntries(named)).toEqual(names);
    expect(run.blocks.length).toBe(named.length);
  });
});

test('a block of a worker that does not end is reported as that of its thread', async () => {
  const receiver = await OtlpReceiver.listen();
  let line = '';
  try {
    await runApp('worker-ongoing.cjs', { asyncHooks: 'auto', env: receiver.env }, async (app) => {
      const stderr = app.child.stderr as NodeJS.ReadableStream;
      [line] = (await once(stderr, 'data')) as [string];
      while (receiver.spans.length === 0) await wait(10);
      app.child.kill('SIGKILL');
    });
  } finally {
    receiver.close();
  }

  const file = path.basename('worker-ongoing.cjs');
  expect(line).toMatch(new RegExp(`not ended: resizeForEver .*${file}.*, pid \\d+, thread 1 `));
  expect(receiver.spans[0]?.attributes).toMatchObject({
    'event_loop.block.unfinished': true,
    'code.function.name': 'resizeForEver',
    'thread.id': 1,
  });
});

test('/register, asked for worker threads: the block of one, as that of an own instance', async () => {
  const receiver = await OtlpReceiver.listen();
  try {
    await runApp('worker.cjs', {
      file: appFile('plain/worker.cjs'),
      nodeArgs: ['--require', 'opentelemetry-instrumentation-event-loop/register'],
      env: {
        ...receiver.env,
        OTEL_INSTRUMENTATION_EVENT_LOOP_WORKERS: 'true',
        OTEL_RESOURCE_ATTRIBUTES: 'service.instance.id=pod-1',
      },
    });
  } finally {
    receiver.close();
  }

  const blocks = receiver.spans.filter(({ attributes }) => attributes['thread.id'] === 1);
  expect(blocks.length).toBeGreaterThan(0);
  for (const { name, resource } of blocks) {
    expect(name).toBe('event-loop-blocked');
    expect(resource['service.instance.id']).toMatch(/^[0-9a-f-]{36}$/);
  }
});
