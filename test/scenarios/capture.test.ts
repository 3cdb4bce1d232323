/** The blocking function: its name, file and line, from stack samples. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import {
  expectBlocks,
  expectNamed,
  expectQuietExit,
  NAME_OF_WORK,
} from './support/expect-blocks.ts';
import {
  appFile,
  makeFolder,
  type Run,
  runApp,
  type SpanLine,
  type Truth,
} from './support/run-app.ts';
import { test, VoidMeasurement } from './support/scenario.ts';
import {
  judgeUnlessDelayed,
  runDelayOf,
  voidBlock,
  voidNaming,
  voidTruth,
} from './support/validity.ts';

/** More of them are not left out because the watchdog thread had no CPU: all are measured again. */
const MAX_VOID = 0.1;
/** The part of all blocks of a run that the machine may take. */
const DELAY_MILLIS = 50;

/** Twice the threshold: there are many. */
const SHORT_BLOCKS = { BLOCK_MILLIS: '80' };

/** The app's `thresholdMillis`. */
const THRESHOLD_MILLIS = 40;

/**
 * Every labelled span, and what was reported as its block. Without those that V8 made too fast
 * since their size was chosen.
 */
function blockersOf(run: Run) {
  const isTooShort = ({ name }: SpanLine) =>
    run.truths.some((truth) => truth.label === name && truth.durationMillis < THRESHOLD_MILLIS);
  return run.spans
    .filter((span) => span.attributes['blockingFunction'] !== undefined && !isTooShort(span))
    .map((span) => {
      const longest = (a: SpanLine, b: SpanLine) => b.durationMillis - a.durationMillis;
      const blocks = run.blocks
        .filter((block) => block.parentSpanId === span.spanId)
        .sort(longest)
        // What follows the blocking function may reach the threshold if it waits for a CPU.
        .filter((block, i) => i === 0 || voidBlock(run, block) === undefined);
      const [block] = blocks;
      const truth = run.truths.find(({ label }) => label === span.name);
      return {
        voidBecause: block
          ? voidNaming(run, block)
          : truth && (voidTruth(run, truth, []) ?? voidSteps(run, truth)),
        blocker: span.name,
        blocks: blocks.length,
        wanted: span.attributes['blockingFunction'],
        named: blocks[0]?.attributes['code.function.name'],
        file: blocks[0]?.attributes['code.file.path'],
      };
    });
}

/** A block of many short steps has no parent if the watchdog thread had no CPU in it. */
function voidSteps(run: Run, truth: Truth): string | undefined {
  const steps = run.blocks.find(
    ({ parentSpanId, startMillis, endMillis, attributes }) =>
      parentSpanId === undefined &&
      startMillis < truth.endMillis &&
      endMillis > truth.startMillis &&
      attributes['event_loop.block.kind'] !== 'callback',
  );
  return steps && voidNaming(run, steps);
}

/** Of two functions that share the time of a block, the samples of a busy machine choose one. */
const MAX_WRONG = 1;
/** The blockers in parts, each a process of some 8 seconds. */
const PARTS = ['1/3', '2/3', '3/3'];
const LEAST_BLOCKERS = 38;

test('the labelled blocking functions are named', async () => {
  const blocked: ReturnType<typeof blockersOf> = [];
  for (const part of PARTS) {
    const run = await runApp('blocking-functions.cjs', { args: [part], env: SHORT_BLOCKS });
    expectQuietExit(run);
    blocked.push(...blockersOf(run));
  }

  expect(blocked.length).toBeGreaterThanOrEqual(LEAST_BLOCKERS);
  expect(
    blocked.filter(
      ({ blocks, voidBecause }) => blocks > 1 || (blocks === 0 && voidBecause === undefined),
    ),
  ).toEqual([]);
  const voids = blocked.filter(
    ({ wanted, named, voidBecause }) => wanted !== named && voidBecause !== undefined,
  );
  if (voids.length > blocked.length * MAX_VOID) {
    throw new VoidMeasurement(`${voids.length} of ${blocked.length}: ${voids[0]?.voidBecause}`);
  }
  const wrong = blocked.filter(
    ({ wanted, named, voidBecause }) => wanted !== named && voidBecause === undefined,
  );
  expect(wrong.slice(MAX_WRONG)).toEqual([]);
  for (const { file, voidBecause } of blocked) {
    if (voidBecause !== undefined) continue;
    expect(file).toMatch(/labelled-blockers\.cjs$/);
  }
});

test('stack samples let nothing run in the middle of the code they interrupt', async () => {
  const run = await runApp('uninterrupted.cjs');

  expect(run.notes['intruders']).toBe(0);
  const samples = run.blocks.map((block) =>
    Number(block.attributes['event_loop.block.samples'] ?? 0),
  );
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
    // there was something to notice
    expect(samples.filter((n) => n > 0).length).toBeGreaterThanOrEqual(11);
  });
  expectQuietExit(run);
});

test('what another thread wakes up is named, although no hook is called for it', async () => {
  const run = await runApp('wait-async.cjs', { asyncHooks: 'always' });

  const labels = ['warm-up', 'block 0', 'block 1', 'block 2'];
  expectBlocks(
    run,
    labels.map((truth) => ({ truth, kind: 'microtasks', parent: 'none' })),
  );
  expectNamed(run, Object.fromEntries(labels.map((label) => [label, NAME_OF_WORK])));
  expectQuietExit(run);
});

test('no function of the application is called inside a block, by samples or by hooks that fail', async () => {
  const run = await runApp('nothing-inside.cjs', { asyncHooks: 'auto' });

  expect(run.notes['inside']).toEqual([]);
  // There was something to notice, and what failed inside is said afterwards.
  expect(run.notes['outside']).toEqual(
    expect.arrayContaining(['inApp', 'RegExp', 'toJSON', expect.stringContaining('not now')]),
  );
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
    expect(run.blocks.map((block) => block.attributes['code.function.name'])).toEqual(['hash']),
  );
  expectQuietExit(run);
});

test('captures in the middle of regular expressions change nothing of them', async () => {
  const run = await runApp('regex.cjs', { asyncHooks: 'auto' });

  expect(run.notes['wrong']).toBe(0);
  const samples = run.blocks.map((block) =>
    Number(block.attributes['event_loop.block.samples'] ?? 0),
  );
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
    expect(samples.reduce((sum, n) => sum + n, 0)).toBeGreaterThan(50);
  });
  expectQuietExit(run);
});

/**
 * What the app runs in its blocks: it asks how long it has run, and the last stack sample may be
 * taken where the next wait begins. A bundler adds a digit where two modules have a function of the
 * same name.
 */
const OWN_FUNCTION =
  /^(tinyCallback|cpuMillis|readThreadTimes|main|wait|readRunDelay|record|unixTime)\d?$/;

/** Where the code of the package stands. */
const LAYOUTS = ['installed', 'bundled and minified'];

test.each(LAYOUTS)('%s: this package is never named itself', async (layout) => {
  const folder = makeFolder();
  const file =
    layout === 'installed' ? appFile('tiny-callbacks.cjs') : path.join(folder, 'dist', 'index.cjs');
  if (layout !== 'installed') {
    execFileSync(require.resolve('esbuild/bin/esbuild'), [
      appFile('tiny-callbacks.cjs'),
      '--bundle',
      '--platform=node',
      '--log-level=error',
      '--minify',
      '--keep-names',
      `--outfile=${file}`,
    ]);
  }
  const run = await runApp('tiny-callbacks.cjs', { asyncHooks: 'auto', file });
  rmSync(folder, { recursive: true });

  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
    expect(run.blocks.length).toBeGreaterThanOrEqual(10),
  );
  // Where every stack sample is of Node.js or this package, no function is named.
  const named = run.blocks.filter(
    ({ attributes }) => attributes['code.function.name'] !== undefined,
  );
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
    expect(named.length).toBeGreaterThanOrEqual(5),
  );
  for (const { attributes } of named) {
    const name = String(attributes['code.function.name']);
    expect(name).toMatch(OWN_FUNCTION);
    // The longer it has no CPU, the more often it asks.
    judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => expect(name).toBe('tinyCallback'));
    const shares = attributes['event_loop.block.top_functions'];
    if (shares === undefined) {
      // Of one or two stack samples that saw a function there are no shares.
      expect(attributes['event_loop.block.samples']).toBeLessThan(6);
      continue;
    }
    const others = String(shares)
      .split(', ')
      .map((share) => share.replace(/ \d+%$/, ''))
      .filter((each) => !OWN_FUNCTION.test(each));
    expect(others).toEqual([]);
  }
  expectQuietExit(run);
});
