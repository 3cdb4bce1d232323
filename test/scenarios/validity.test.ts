/**
 * The scenarios' own judgement, on a machine that takes the CPU away all the time: it excuses no
 * defect.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type ExpectedBlock, expectBlock } from './support/expect-blocks.ts';
import type { Run, SpanLine, Truth } from './support/run-app.ts';
import { untilValid, VoidMeasurement } from './support/scenario.ts';

const START = 1_700_000_000_000;
const EXPECTED: ExpectedBlock = { truth: 'work', kind: 'microtasks' };

const truth = {
  pid: 1,
  thread: 0,
  label: 'work',
  startMillis: START,
  endMillis: START + 200,
  durationMillis: 200,
  spanId: 'a',
  traceId: 't',
} satisfies Truth;

/** The thread waited for 500 ms before the work, and as long after it. */
const readings = [-600, 0, 200, 800].map((at, i) => ({
  pid: 1,
  thread: 0,
  atMillis: START + at,
  delayMillis: [0, 500, 500, 1000][i] ?? 0,
}));

function runWith(
  durationMillis: number,
  kind: string | undefined,
  parentSpanId: string | undefined = 'a',
): Run {
  const block = {
    ...truth,
    name: 'event-loop-blocked',
    endMillis: START + durationMillis,
    durationMillis,
    parentSpanId,
    attributes: { ...(kind && { 'event_loop.block.kind': kind }) },
  } as unknown as SpanLine;
  const known = { truths: [truth], blocks: [block], spans: [block], readings };
  return { ...known, notes: {}, stalls: [], stolen: [], delays: [], diags: [] } as never;
}

async function measurementsUntil(run: Run): Promise<{ count: number; failure: Error }> {
  let count = 0;
  const measured = untilValid(() => {
    count++;
    expectBlock(run, EXPECTED);
  });
  return {
    failure: await measured.then(
      () => new Error('passed'),
      (error: Error) => error,
    ),
    count,
  };
}

test('a block that is 30 % too long is measured again, and fails with its length', async () => {
  const { count, failure } = await measurementsUntil(runWith(260, 'microtasks'));
  expect(failure).not.toBeInstanceOf(VoidMeasurement);
  expect(failure.message).toMatch(/260\.0 ms .*\nis not work: 200\.0 ms/);
  expect(failure.message).toMatch(/\(5 times; the machine was busy: work: waited for a CPU for /);
  expect(count).toBe(5);
});

test.each([
  ['kind', runWith(200, 'callback')],
  ['parent', runWith(200, 'microtasks', 'b')],
])('a wrong %s is judged the first time', async (what, run) => {
  const { count, failure } = await measurementsUntil(run);
  expect(failure.message).toContain(what === 'kind' ? 'callback' : '"parentSpanId": "b"');
  expect(count).toBe(1);
});

test('noise that is over at the second measurement does not fail', async () => {
  const runs = [runWith(260, 'microtasks'), runWith(201, 'microtasks')];
  await untilValid(() => void expectBlock(runs.shift() as Run, EXPECTED));
  expect(runs).toEqual([]);
});

test.each([
  [{ voids: 11, valid: 15 }, true],
  [{ voids: 5, valid: 30 }, false],
  [{ voids: 3, valid: 3 }, false],
])('a run of %j measurements has shown too little: %s', (tally, fails) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'event-loop-tally-'));
  const SCENARIO_TALLY = path.join(folder, 'tally.jsonl');
  writeFileSync(SCENARIO_TALLY, `${JSON.stringify({ name: 'one', ...tally })}\n`);
  const reporter = pathToFileURL(path.join(__dirname, 'support/void-reporter.mjs'));
  const code = `const { default: Reporter } = await import('${reporter}');
    const reporter = new Reporter();
    reporter.onRunComplete();
    process.exitCode = reporter.getLastError() ? 1 : 0;`;
  const { status } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], {
    env: { ...process.env, SCENARIO_TALLY },
  });
  rmSync(folder, { recursive: true });
  expect(status).toBe(fails ? 1 : 0);
});
