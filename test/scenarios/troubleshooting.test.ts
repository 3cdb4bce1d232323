/** What docs/troubleshooting.md says: each symptom made on purpose, and what shows it. */
import { rmSync } from 'node:fs';
import { OtlpReceiver } from '../../tools/otlp-receiver.cjs';
import { apiVersion, installApart, SHARED_PACKAGES } from './support/install-apart.ts';
import { type App, type AppOptions, appFile, type Run, runApp } from './support/run-app.ts';
import { test } from './support/scenario.ts';
import { judgeUnlessDelayed, runDelayOf } from './support/validity.ts';

const REGISTER = 'opentelemetry-instrumentation-event-loop/register';
const CONSOLE = { OTEL_INSTRUMENTATION_EVENT_LOOP_CONSOLE: 'true' };
const LOG = { OTEL_LOG_LEVEL: 'info' };
const [NODE_MAJOR = 0, NODE_MINOR = 0] = process.versions.node.split('.').map(Number);

/**
 * Each app blocks the event loop for 300 ms. The span of it is shorter if its parent began
 * later.
 */
const LEAST_MILLIS = 290;

interface PrintedSpan {
  name: string;
  kind: number;
  millis: number;
  parent?: string;
  attributes: Record<string, unknown>;
}

/** What the machine may take of a run without making another block of it, or one without a name. */
const DELAY_MILLIS = 30;
const judgeBlocks = (ended: Run, judge: () => void) =>
  judgeUnlessDelayed(runDelayOf(ended), DELAY_MILLIS, judge);

/** Runs an app of `apps/trouble/` to its end, and reads the spans that it printed. */
async function run(file: string, options: AppOptions = {}, drive?: (app: App) => Promise<void>) {
  const ended = await runApp(file, { file: appFile(`trouble/${file}`), ...options }, drive);
  const spans = [...ended.stdout.matchAll(/^span (.*)$/gm)].map(
    ([, json]) => JSON.parse(String(json)) as PrintedSpan,
  );
  // The machine may add shorter ones.
  const blocks = spans.filter(
    ({ name, millis }) => name === 'event-loop-blocked' && millis >= LEAST_MILLIS,
  );
  return { ...ended, spans, blocks, ended };
}

const LINE = /^event-loop-blocked [\d.]+ m?s callback: work \(.*telemetry\.cjs:\d+:\d+\)/m;

describe('no spans at all', () => {
  test('unless something is wrong, the console and the SDK have the same block', async () => {
    const { blocks, stderr, ended } = await run('one-block.cjs', { env: CONSOLE });
    judgeBlocks(ended, () => expect(blocks).toHaveLength(1));
    judgeBlocks(ended, () => expect(stderr).toMatch(LINE));
  });

  test.each<[string, AppOptions]>([
    ['OTEL_SDK_DISABLED', { env: { OTEL_SDK_DISABLED: 'true' } }],
    ['the SDK started after the block', { args: ['the SDK after the block'] }],
  ])('%s: the console has the block', async (_cause, { env, ...options }) => {
    const { spans, stderr, ended } = await run('one-block.cjs', {
      ...options,
      env: { ...CONSOLE, ...env },
    });
    expect(spans).toEqual([]);
    judgeBlocks(ended, () => expect(stderr).toMatch(LINE));
  });

  test('nothing reached the threshold: the console says nothing', async () => {
    const env = { ...CONSOLE, OTEL_INSTRUMENTATION_EVENT_LOOP_THRESHOLD_MILLIS: '1000' };
    const { spans, stderr, ended } = await run('one-block.cjs', { env });
    expect(spans).toEqual([]);
    judgeBlocks(ended, () => expect(stderr).toBe(''));
  });
});

describe('two copies of the api', () => {
  const [major, minor] = apiVersion.split('.');
  const NEWER = `${major}.99.0`;
  const PATCHED = `${major}.${minor}.99`;
  const folders = new Map<string, string>();
  beforeAll(() => {
    for (const version of [NEWER, PATCHED]) folders.set(version, installApart(version));
  });
  afterAll(() => {
    for (const folder of folders.values()) rmSync(folder, { recursive: true });
  });

  const warning = `the SDK is registered with @opentelemetry/api ${apiVersion}, and this package finds a newer copy`;
  const FINDS = 'this package finds it';
  const IN_LIST = 'this package finds it, in the list of the SDK';

  test.each([
    { version: NEWER, what: FINDS, blocks: 0, warnings: 1 },
    { version: NEWER, what: IN_LIST, blocks: 1, warnings: 1, hasParent: false },
    { version: PATCHED, what: IN_LIST, blocks: 1, warnings: 0, hasParent: true },
    // Made before the SDK.
    { version: PATCHED, what: FINDS, blocks: 0, warnings: 0 },
    { version: PATCHED, what: 'another copy has registered a logger', blocks: 0, warnings: 0 },
  ])('$version, $what: $blocks blocks, $warnings warnings', async (given) => {
    const { spans, blocks, stdout, stderr, ended } = await run('two-api-copies.cjs', {
      args: [String(folders.get(given.version)), given.what],
      env: { ...LOG, NODE_PATH: SHARED_PACKAGES },
    });
    judgeBlocks(ended, () => expect(blocks).toHaveLength(given.blocks));
    if (given.blocks > 0) expect(blocks[0]?.parent !== undefined).toBe(given.hasParent);
    expect(stderr.split(warning)).toHaveLength(1 + given.warnings);
    if (given.what === FINDS) expect(stdout).toContain('request');
    if (given.what !== FINDS && given.what !== IN_LIST) {
      expect(spans).toEqual([]);
      expect(stderr).toMatch(
        /Registration of version v\S+ for trace does not match previously registered API/,
      );
    }
  });
});

describe('no span of the request', () => {
  const SERVER = 1;

  test.each([
    ['as it should be', 1],
    ['the SDK after http', 0],
    // It does not hook require, so HTTP is patched.
    ['the event loop before http', 1],
  ])('%s: the block is below the request in %d spans of it', async (order, requests) => {
    const { spans, blocks, ended } = await run('http-service.cjs', { args: [order] });
    expect(spans.filter(({ kind }) => kind === SERVER)).toHaveLength(requests);
    judgeBlocks(ended, () => expect(blocks).toHaveLength(1));
    expect(blocks[0]?.parent !== undefined).toBe(requests === 1);
  });
});

describe('no stack', () => {
  const withoutInspector =
    "data:text/javascript,Object.defineProperty(process.features, 'inspector', { value: false })";

  test('a Node.js without inspector: the log says why', async () => {
    const nodeArgs = ['--import', withoutInspector];
    const { blocks, stderr, ended } = await run('one-block.cjs', { nodeArgs, env: LOG });
    judgeBlocks(ended, () => expect(blocks).toHaveLength(1));
    expect(blocks[0]?.attributes).not.toHaveProperty('code.stacktrace');
    const reason = 'captureStack is off: this Node.js has no inspector';
    expect(stderr.split(reason)).toHaveLength(2);
  });
});

test('/register, and in the list of the SDK: one span, and the log says so', async () => {
  const receiver = await OtlpReceiver.listen();
  try {
    const { blocks, stderr, ended } = await run('one-block.cjs', {
      nodeArgs: ['--import', REGISTER],
      env: { ...receiver.env, ...LOG },
    });
    judgeBlocks(ended, () => expect(blocks).toHaveLength(1));
    expect(receiver.named('event-loop-blocked')).toEqual([]);
    expect(stderr).toContain('another EventLoopInstrumentation is enabled in this process');
  } finally {
    receiver.close();
  }
});

test('the span is shorter than the block: event_loop.block.duration is the exact length', async () => {
  const { spans } = await run('late-parent.cjs');
  const parented = spans.filter(({ name, parent }) => name === 'event-loop-blocked' && parent);
  expect(parented).toHaveLength(1);
  const [{ millis, attributes } = {} as PrintedSpan] = parented;
  expect(attributes['test.length']).toBeGreaterThanOrEqual(0.3);
  expect(attributes['event_loop.block.duration']).toBe(attributes['test.length']);
  expect(millis).toBe(0);
});

describe('the end of a process under /register', () => {
  const nodeArgs = ['--import', REGISTER];

  test.each([
    ['process.exit', 0],
    ['let it end', 2],
  ])('SIGTERM with a handler of its own that does %s: %d blocks are sent', async (how, sent) => {
    const receiver = await OtlpReceiver.listen();
    try {
      const { code } = await run(
        'sigterm.cjs',
        { args: [how], nodeArgs, env: receiver.env },
        async (app) => {
          await app.printed('ready');
          app.child.kill('SIGTERM');
        },
      );
      expect(code).toBe(0);
      const blocks = receiver.named('event-loop-blocked').length;
      if (sent === 0) expect(blocks).toBe(0);
      else expect(blocks).toBeGreaterThanOrEqual(sent);
    } finally {
      receiver.close();
    }
  });
});

test('/register, an ES module, modules hooked in another thread: blocks of the first second are not reported', async () => {
  const hooksInOtherThread = NODE_MAJOR < 22 || (NODE_MAJOR === 22 && NODE_MINOR < 22);
  const { stderr, ended } = await run('early-block.mjs', {
    nodeArgs: ['--import', REGISTER],
    env: { ...CONSOLE, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' },
  });
  judgeBlocks(ended, () =>
    expect(stderr.match(/^event-loop-blocked [\d.]+ m?s /gm)).toHaveLength(
      hooksInOtherThread ? 1 : 2,
    ),
  );
});
