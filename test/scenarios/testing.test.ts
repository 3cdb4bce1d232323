/**
 * The entry `/testing` under the test runners that people use, each as it is: what it records, and
 * what a failure says.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { BACKGROUND } from './support/background.ts';
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
    const { stalls } = await witness.stop();
    judgeUnlessDelayed(lateOf(stalls), DELAY_MILLIS, () => judge(output));
  } finally {
    await witness.stop();
  }
}

/** A runner that does not end is killed after this time. */
const MAX_RUN_MILLIS = 90_000;

function outputOf(args: string[], env: Record<string, string>): Promise<string> {
  // Neither this jest's environment nor the colours of the shell.
  const own = Object.entries(process.env).filter(
    ([key]) => !/^(OTEL_|NODE_|JEST_|FORCE_COLOR)/.test(key),
  );
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [...BACKGROUND, ...args],
      {
        cwd: ROOT,
        env: { ...Object.fromEntries(own), NO_COLOR: '1', ...env },
        timeout: MAX_RUN_MILLIS,
      },
      (_failed, stdout, stderr) => resolve(stdout + stderr),
    );
  });
}

const PLACE = /report\.cjs:\d+:\d+/;
const FAILURE = [
  /EventLoopBlockedError/,
  /the event loop was blocked once for 50 ms or longer/,
  new RegExp(`[\\d.]+ m?s callback: hashRow \\(.*${PLACE.source}\\), judged (by|as) `),
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
    /(# |ℹ )pass 8\n(# |ℹ )fail 1/,
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

const TIME_OUTS = `${RUNNERS}/time-outs`;
const NAMED = new Set(['callback: hashRow', 'microtasks: hashRow']);
const HEALTHY = ['healthy 1', 'healthy 2', 'healthy 3', 'healthy 4'];

test.each([
  ['jest', [bin('jest/bin/jest.js'), '-i', '--verbose', '-c', `${TIME_OUTS}/jest.config.cjs`]],
  ['node:test', ['--test', '--test-reporter=spec', `${TIME_OUTS}/node-test.mjs`]],
  [
    'vitest',
    [
      bin('vitest/vitest.mjs'),
      'run',
      '--reporter=verbose',
      '--config',
      `${TIME_OUTS}/vitest.config.mjs`,
    ],
  ],
])(
  '%s: a block longer than the time-out fails one test, by the name of what blocked',
  async (_name, args) => {
    const output = await outputOf(args, {});
    const passed = HEALTHY.filter((name) => new RegExp(`[✓✔] .*${name}\\b`).test(output));
    expect({ passed, output }).toMatchObject({ passed: HEALTHY });
    for (const name of ['blocks at once', 'blocks in a timer, and goes on'])
      expect(output).toMatch(new RegExp(`[✕×✖] .*${name}`));
    // Some runners say it twice.
    expect(new Set(output.match(/\w+: hashRow/g))).toEqual(NAMED);
    expect(output).not.toMatch(/another recording|JEST-01|did not exit/);
  },
  MAX_RUN_MILLIS,
);

test('a recorded block serializes as the schema says', async () => {
  const script = `
    import { recordBlocks } from 'opentelemetry-instrumentation-event-loop/testing';
    import { renderAtOnce } from '${RUNNERS}/report.cjs';
    const blocks = await recordBlocks(() => renderAtOnce(60), { thresholdMillis: 30 });
    console.log(JSON.stringify(blocks));`;
  const blocks = JSON.parse(await outputOf(['--input-type=module', '-e', script], {}));
  const validate = new Ajv2020({ strict: true }).compile(
    JSON.parse(readFileSync(require.resolve(SCHEMA), 'utf8')),
  );
  expect(blocks.length).toBeGreaterThanOrEqual(1);
  for (const block of blocks) {
    validate(block);
    expect(validate.errors).toBeNull();
  }
});
