/** What else blocks the event loop, and where. */
import {
  type ExpectedBlock,
  expectBlock,
  expectBlockMetric,
  expectBlocks,
  expectQuietExit,
  lengthTolerance,
  truthNamed,
} from './support/expect-blocks.ts';
import { type AsyncHooksMode, runApp } from './support/run-app.ts';
import { judgeValid, sharedRun, test } from './support/scenario.ts';
import { judgeUnlessDelayed, runDelayOf, voidNaming } from './support/validity.ts';

const MODES: AsyncHooksMode[] = ['always', 'auto'];

/** With hooks, a nextTick is known to be a callback of its own. */
const kindOfTick = (asyncHooks: AsyncHooksMode) =>
  asyncHooks === 'auto' ? 'microtasks' : 'callback';

/** In the order in which the app runs them. */
const placesOf = (
  asyncHooks: AsyncHooksMode,
): (ExpectedBlock & { resource?: string; code?: string })[] => [
  { truth: 'timer', kind: 'callback', resource: 'Timeout' },
  { truth: 'immediate', kind: 'callback', resource: 'Immediate' },
  { truth: 'tick', kind: kindOfTick(asyncHooks), resource: 'TickObject' },
  { truth: 'queueMicrotask', kind: 'microtasks' },
  { truth: 'await', kind: 'microtasks' },
  { truth: 'fs callback', kind: 'callback', resource: 'FSREQCALLBACK' },
  { truth: 'fs promise', kind: 'microtasks' },
  { truth: 'promise of an add-on', kind: 'microtasks', code: 'hashSome' },
  { truth: 'stream', kind: 'callback' },
  { truth: 'dns callback', kind: 'callback', resource: 'GETADDRINFOREQWRAP' },
  { truth: 'bound emitter', kind: 'callback', resource: 'Timeout' },
  { truth: 'HTTP client response', kind: kindOfTick(asyncHooks) },
  { truth: 'HTTP handler that awaits', kind: 'microtasks' },
  { truth: 'async resource', kind: 'callback' },
  { truth: 'nested async resources', kind: 'callback' },
  { truth: 'pooled connection', kind: 'callback' },
  { truth: 'WebSocket message', kind: 'callback' },
  { truth: 'port message', kind: 'callback' },
  { truth: 'span after an await', kind: 'callback' },
  { truth: 'no span', kind: 'callback', parent: 'none', resource: 'Timeout' },
  { truth: 'first of two spans', kind: 'callback' },
  { truth: 'second of two spans', kind: 'callback' },
  { truth: 'two nested spans', kind: 'callback' },
  { truth: 'before a span', kind: 'callback', parent: 'none' },
  { truth: 'inside a span', kind: 'callback' },
  { truth: 'after a span', kind: 'callback', parent: 'none' },
  { truth: 'before a gap', kind: 'callback' },
  { truth: 'after a gap', kind: 'callback' },
  { truth: 'interval 1', kind: 'callback' },
  { truth: 'interval 3', kind: 'callback' },
  { truth: 'ticks', kind: 'microtasks' },
  { truth: 'timers due together', kind: 'pile-up', parent: 'active or none' },
];

describe.each(MODES)('with asyncHooks %s, a block in', (asyncHooks) => {
  const places = placesOf(asyncHooks);
  const lookAtRun = sharedRun(() => runApp('block-places.cjs', { asyncHooks }));

  test.each(places)('$truth: once, with its length and its parent', (place) =>
    lookAtRun((run) => {
      const { resource, code, ...expected } = place;
      const block = expectBlock(run, expected);
      if (code) {
        const judge = () => expect(block.attributes['code.function.name']).toBe(code);
        judgeValid([{ label: expected.truth, voidBecause: voidNaming(run, block), judge }]);
      }
      if (resource) expect(block.attributes['event_loop.async_resource.type']).toBe(resource);
      if (expected.kind === 'callback')
        expect(block.attributes['event_loop.block.callbacks']).toBe(1);
    }),
  );

  test('timers due together: several callbacks are counted', () =>
    lookAtRun((run) => {
      const block = expectBlock(run, {
        truth: 'timers due together',
        kind: 'pile-up',
        parent: 'active or none',
      });
      const callbacks = Number(block.attributes['event_loop.block.callbacks']);
      // Those that stack samples have found.
      expect(callbacks).toBeGreaterThanOrEqual(2);
      // with the timers of SDK and instrumentation that may be due as well
      expect(callbacks).toBeLessThanOrEqual(12);
    }));

  test('all of these: no other block in any trace', () =>
    lookAtRun((run) => {
      expectBlocks(run, places);
      expectBlockMetric(run);
      expectQuietExit(run);
    }));
});

test('immediates, then timers: they are one pile-up', async () => {
  const run = await runApp('immediates-then-timers.cjs', {
    asyncHooks: 'always',
    withoutBackground: 'it counts the callbacks of one iteration',
  });

  expectQuietExit(run);
  const block = expectBlock(run, {
    truth: 'callbacks',
    kind: 'pile-up',
    parent: 'active or none',
  });
  expect(block.attributes['event_loop.block.callbacks']).toBeGreaterThanOrEqual(2);
});

test('callbacks of many traces in one block: it is in none of them', async () => {
  const { blocks, ...run } = await runApp('many-traces.cjs');

  expectQuietExit({ blocks, ...run });
  expect(blocks.length).toBeGreaterThanOrEqual(5);
  expect(blocks.map(({ parentSpanId }) => parentSpanId)).toEqual(blocks.map(() => undefined));
});

describe('a single call that blocks', () => {
  const CALLS = [
    'regex',
    'JSON.stringify',
    'readFileSync',
    'gzipSync',
    'pbkdf2Sync',
    'sort',
    'require',
    'execSync',
  ];
  const lookAtRun = sharedRun(() => runApp('blocking-calls.cjs'));

  test.each(CALLS)('%s is one block', (truth) =>
    lookAtRun((run) => {
      expect(truthNamed(run, truth).durationMillis).toBeGreaterThan(65);
      expectBlock(run, { truth, kind: 'callback' });
    }),
  );

  test('all of these: no other block in any trace', () =>
    lookAtRun((run) => {
      expectBlocks(
        run,
        CALLS.map((truth) => ({ truth, kind: 'callback' })),
      );
      expectBlockMetric(run);
      expectQuietExit(run);
    }));
});

test('memory pressure: most of the block is garbage collection', async () => {
  // V8's other threads may lack CPU, and to wait for these is no block.
  const run = await runApp('memory-pressure.cjs', { nodeArgs: ['--single-threaded-gc'] });

  expectBlocks(run, [{ truth: 'pressure', kind: 'callback' }]);
  expectQuietExit(run);
  const reported = Number(run.blocks[0]?.attributes['event_loop.block.gc_time']) * 1e3;
  const truth = Number(run.notes['gc millis']);
  expect(truth).toBeGreaterThan(truthNamed(run, 'pressure').durationMillis / 2);
  expect(Math.abs(reported - truth)).toBeLessThan(lengthTolerance(truth));
});

test.each(['exporter', 'batch exporter', 'onStart', 'blockHook'])(
  'a slow %s: the report of a block is not reported as a block, which would never end',
  async (part) => {
    const run = await runApp('own-work.cjs', { args: [part] });

    expectQuietExit(run);
    const own = run.truths.filter((truth) => truth.startMillis > truthNamed(run, 'job').endMillis);
    const reported = own.slice(0, 1); // the one after `disable()`, if any, is not even counted
    expect(reported.map((truth) => truth.label.startsWith(part))).toEqual([true]);
    expectBlocks(run, [{ truth: 'job', kind: 'callback' }]);
    expectBlockMetric(run, { count: 1, millis: reported[0]?.durationMillis ?? 0 });
  },
);

test('blockHooks and callbacks that reach the threshold together are no block, whose report would be another', async () => {
  const run = await runApp('own-work.cjs', { args: ['short blockHook'] });

  expectQuietExit(run);
  expectBlocks(
    run,
    ['job', 'job 2', 'job 3'].map((truth) => ({ truth, kind: 'callback' })),
  );
  expectBlockMetric(run);
  expect(run.notes['slow calls']).toBe(3);
});

describe.each(MODES)('with asyncHooks %s', (asyncHooks) => {
  /** Of waits of 200 ms. */
  const DELAY_MILLIS = 30;
  const LENGTH_TOLERANCE_MILLIS = 5;

  test('a wait on the main thread is one block, with and without a span: its cause is waiting', async () => {
    const run = await runApp('waits.cjs', { asyncHooks });

    expect(run.truths).toHaveLength(10);
    for (const { label, startMillis, endMillis, durationMillis, spanId } of run.truths) {
      const blocks = run.blocks.filter(
        (block) => block.startMillis < endMillis && block.endMillis > startMillis,
      );
      judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
        expect(blocks.map(({ attributes }) => attributes['event_loop.block.cause'])).toEqual([
          'waiting',
        ]);
        expect(blocks[0]?.attributes['code.function.name']).toBe(label.replace(' alone', ''));
        const lengths = [blocks[0]?.durationMillis ?? 0, durationMillis] as const;
        expect(Math.abs(lengths[0] - lengths[1])).toBeLessThan(LENGTH_TOLERANCE_MILLIS);
      });
      expect(blocks.map(({ parentSpanId }) => parentSpanId)).toEqual([spanId]);
    }
    expectQuietExit(run);
  });
});
