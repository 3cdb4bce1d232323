/**
 * The entry `/testing` under the test runners that people use, each as it is: what it records, and
 * what a failure says.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { appFile } from './support/run-app.ts';
import { test } from './support/scenario.ts';
import { judgeUnlessDelayed, lateOf } from './support/validity.ts';
import { startWitness } from './support/witness.ts';

const SCHEMA = 'opentelemetry-instrumentation-event-loop/console.schema.json';
const RUNNERS = appFile('runners');
const ROOT = path.join(__dirname, '../..');
const bin = (file: string) => path.join(ROOT, 'node_modules', file);

/**
 * What the machine may take: the tests of the runners have blocks of 200 ms, and steps of 15 ms
 * that are none.
 */
const DELAY_MILLIS = 30;

/** Judges what the runner prints of the tests, of which one has to fail. */
async function judgeOutput(
  args: string[],
  env: Record<string, string>,
  judge: (output: string) => void,
): Promise<void> {
  const witness = await startWitness();
  try {
    const output = await outputOf(args, env);
    await witness.stop();
    judgeUnlessDelayed(lateOf(witness.stalls()), DELAY_MILLIS, () => judge(output));
  } finally {
    await witness.stop();
  }
}

function outputOf(args: string[], env: Record<string, string>): Promise<string> {
  // Neither this jest's environment nor the colours of the shell.
  const own = Object.entries(process.env).filter(
    ([key]) => !/^(OTEL_|NODE_|JEST_|FORCE_COLOR)/.test(key),
  );
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      args,
      { cwd: ROOT, env: { ...Object.fromEntries(own), NO_COLOR: '1', ...env } },
      (_failed, stdout, stderr) => resolve(stdout + stderr),
    );
  });
}

const PLACE = /report\.cjs:\d+:\d+/;
const FAILURE = [
  /EventLoopBlockedError/,
  /the event loop was blocked once for 50 ms or longer/,
  new RegExp(`[\\d.]+ m?s callback: hashRow \\(.*${PLACE.source}\\)`),
  new RegExp(`at (exports\\.)?renderAtOnce \\(.*${PLACE.source}\\)`),
];

test.each([
  [
    'jest',
    [bin('jest/bin/jest.js'), '-c', `${RUNNERS}/jest.config.cjs`],
    /1 failed, 2 passed/,
    /jest\.cjs:22/,
  ],
  [
    'node:test',
    ['--test', `${RUNNERS}/node-test.mjs`],
    /(# |ℹ )pass 7\n(# |ℹ )fail 1/,
    /node-test\.mjs:22/,
  ],
  [
    'vitest',
    [bin('vitest/vitest.mjs'), 'run', '--config', `${RUNNERS}/vitest.config.mjs`],
    /1 failed \| 2 passed/,
    /vitest\.mjs:21/,
  ],
  [
    'vitest in threads',
    [bin('vitest/vitest.mjs'), 'run', '--pool=threads', '--config', `${RUNNERS}/vitest.config.mjs`],
    /1 failed \| 2 passed/,
    /vitest\.mjs:21/,
  ],
])('%s: blocks are recorded, and a failure says where', async (_name, args, verdict, callSite) => {
  await judgeOutput(args, {}, (output) => {
    for (const said of [verdict, ...FAILURE, callSite]) expect(output).toMatch(said);
  });
});

describe('a baseline', () => {
  let folder: string;
  let baseline: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'event-loop-baseline-'));
    baseline = path.join(folder, 'known.json');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const UPDATE = { OTEL_INSTRUMENTATION_EVENT_LOOP_UPDATE_BASELINE: 'true' };
  const known = () => JSON.parse(readFileSync(baseline, 'utf8')).blocks;

  test('jest, one worker a file: all is written; known ones pass then, and longer ones fail', async () => {
    const config = path.join(RUNNERS, 'baseline/jest.config.cjs');
    const args = [bin('jest/bin/jest.js'), '-c', config, '--maxWorkers=4'];
    const env = { RUNNER_BASELINE: baseline };
    const files = ['one', 'two', 'three', 'four'];
    const tests = ['first', 'second', 'third', 'changes'];
    const names = files.flatMap((file) => tests.map((name) => `${file}.cjs > ${name}`));
    const summaryFile = path.join(folder, 'summary.md');
    // A void measurement has left one.
    rmSync(summaryFile, { force: true });
    const witness = await startWitness();
    try {
      const updated = await outputOf(args, { ...env, ...UPDATE });
      expect(readdirSync(folder)).toEqual(['known.json']);
      const blocks = known();
      const written = Object.keys(blocks).map((name) => path.basename(name));
      for (const [name, places] of Object.entries<Record<string, number>>(blocks)) {
        const knownMillis = name.endsWith(' > changes') ? 1 : 60_000;
        for (const place of Object.keys(places)) places[place] = knownMillis;
        if (name.endsWith('one.cjs > first')) places['gone (src/gone.js)'] = 110;
      }
      writeFileSync(baseline, JSON.stringify({ version: 2, blocks }));
      const summaryEnv = {
        GITHUB_STEP_SUMMARY: summaryFile,
        OTEL_INSTRUMENTATION_EVENT_LOOP_JOB_SUMMARY: 'true',
      };
      const judged = await outputOf(args, { ...env, ...summaryEnv });
      await witness.stop();
      const summary = readFileSync(summaryFile, 'utf8');
      judgeUnlessDelayed(lateOf(witness.stalls()), DELAY_MILLIS, () => {
        expect(updated).toMatch(/Tests: +16 passed/);
        expect(written.sort()).toEqual(names.sort());
        expect(judged).toMatch(/Tests: +4 failed, 12 passed/);
        expect(judged).toMatch(/where known\.json does not know it, in ".*one\.cjs > changes"/);
        expect(judged).toMatch(
          /! hashRow \(.*tests\.cjs\): \d.* m?s, more than twice the known 1\.0 ms/,
        );
        expect(judged).toMatch(
          /known\.json: obsolete in ".*one\.cjs > first".*\n *- gone \(src\/gone\.js\): known with 110 ms/,
        );
        const titles = /^### Event loop blocked in `.*\.cjs > \w+`$/gm;
        expect(summary.match(titles)).toHaveLength(names.length);
        const longer =
          /^\| longer \| \d+ ms \| 1\.0 ms \| 1 \| {2}\| `hashRow` \| `.*cjs:\d+:\d+` \|$/gm;
        expect(summary.match(longer)).toHaveLength(files.length);
        expect(summary).toMatch(
          /^\| gone \| {2}\| 110 ms \| {2}\| {2}\| `gone \(src\/gone\.js\)`/m,
        );
      });
    } finally {
      await witness.stop();
    }
  });

  test('unchanged code passes however its time is divided; a new function that blocks is found', async () => {
    const script = path.join(RUNNERS, 'baseline/split.mjs');
    await judgeOutput([script, baseline, '3'], {}, (output) => {
      expect(JSON.parse(output)).toEqual({ failed: [], missed: [] });
    });
  });

  test('processes that update it at the same time lose nothing; what they record is as the schema says', async () => {
    const script = path.join(RUNNERS, 'baseline/script.mjs');
    const ids = ['a', 'b', 'c', 'd'];
    const outputs = await Promise.all(ids.map((id) => outputOf([script, baseline, id, '10'], {})));
    const names = ids.flatMap((id) => Array.from({ length: 10 }, (_, i) => `${id} ${i}`));
    expect(Object.keys(known())).toEqual(names);
    expect(readdirSync(folder)).toEqual(['known.json']);
    const schema = readFileSync(require.resolve(SCHEMA), 'utf8');
    const validate = new Ajv2020({ strict: true }).compile(JSON.parse(schema));
    const blocks = outputs.flatMap((output) => output.trim().split('\n'));
    expect(blocks.length).toBeGreaterThanOrEqual(ids.length);
    for (const block of blocks) {
      validate(JSON.parse(block));
      expect(validate.errors).toBeNull();
    }
  });
});
