/** What must be survived, by the process and by the instrumentation in it. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { OtlpReceiver } from '../../tools/otlp-receiver.cjs';
import { unixTime } from '../support/unix-time.cjs';
import { BACKGROUND } from './support/background.ts';
import { DebuggerClient } from './support/debugger-client.ts';
import {
  type ExpectedBlock,
  expectBlock,
  expectBlockMetric,
  expectBlocks,
  expectExit,
  expectNamed,
  expectNoOtherBlock,
  expectPromptExit,
  expectQuietExit,
  expectSoundBlocks,
  NAME_OF_WORK,
  POSITION_TOLERANCE_MILLIS,
} from './support/expect-blocks.ts';
import {
  type AsyncHooksMode,
  appFile,
  EXIT_TOLERANCE_MILLIS,
  makeFolder,
  type Run,
  runApp,
  sender,
} from './support/run-app.ts';
import { test } from './support/scenario.ts';
import { judgeUnlessDelayed, runDelayOf, stalledSince } from './support/validity.ts';

const MODES: AsyncHooksMode[] = ['always', 'auto'];
/** What the machine may take of a run: with more, there may be one block more. */
const BLOCKS_DELAY_MILLIS = 10;
/** The part of the time for the exit of a process that the machine may take. */
const EXIT_DELAY_MILLIS = 20;
/** As docs/limits.md says. */
const MAX_NAME = 256;
const MAX_FILE = 4096;
const MAX_STACK_TRACE = 32_768;
const PACKAGE = 'opentelemetry-instrumentation-event-loop';
const [NODE_MAJOR = 0] = process.versions.node.split('.').map(Number);

const oneBlock: ExpectedBlock[] = [{ truth: 'job', kind: 'callback' }];
const inCallbacks = (...truths: string[]): ExpectedBlock[] =>
  truths.map((truth) => ({ truth, kind: 'callback' }));
const withoutParent = (...truths: string[]): ExpectedBlock[] =>
  truths.map((truth) => ({ truth, kind: 'callback', parent: 'none' }));
const logged = (run: Run) => run.diags.filter((line) => line.message.startsWith(PACKAGE));

test('what runs in an AsyncLocalStorage enables, blocks and records: its store is collected', () => {
  const stdout = execFileSync(
    process.execPath,
    [...BACKGROUND, '--expose-gc', appFile('stores.cjs')],
    {
      encoding: 'utf8',
      stdio: 'pipe',
    },
  );
  expect(JSON.parse(stdout)).toEqual([]);
});

test('code that blocks near the end of the stack goes on; that samples are lost is logged once', async () => {
  const run = await runApp('deep-recursion.cjs', { asyncHooks: 'auto' });

  expectExit(run);
  expect(run.notes['blocked']).toBe(39);
  const reason = /^(RangeError: Maximum call stack size exceeded|no stack was left for it)$/;
  const lost = `${PACKAGE} a stack sample was lost `;
  expect(run.diags.map((line) => line.message.replace(lost, ''))).toEqual([
    expect.stringMatching(reason),
  ]);
  // The first one has enough of it, and takes 60 ms by `Date.now()`.
  const first = run.blocks.find(({ durationMillis }) => durationMillis >= 50);
  expect(first?.attributes['code.function.name']).toBe('recur');
});

test('with --abort-on-uncaught-exception it goes on there, too: no samples are taken', async () => {
  const nodeArgs = ['--abort-on-uncaught-exception'];
  const run = await runApp('deep-recursion.cjs', { asyncHooks: 'auto', nodeArgs });

  expectExit(run);
  expect(run.notes['blocked']).toBe(39);
  expect(run.diags.map(({ message }) => message)).toEqual([
    `${PACKAGE} captureStack is off: with --abort-on-uncaught-exception it could end the process`,
  ]);
});

test('a stack sample calls no function that the application has put in place of another', async () => {
  const run = await runApp('replaced-globals.cjs');

  expectQuietExit(run);
  expect(run.notes).toMatchObject({ called: [], globals: [] });
  expectNamed(run, { job: NAME_OF_WORK });
});

test('names and files of megabytes: the process lives, and what is exported of them is bounded', async () => {
  const receiver = await OtlpReceiver.listen();
  const run = await runApp('long-names.cjs', { asyncHooks: 'auto', env: receiver.env });
  receiver.close();

  expect([run.code, run.signal]).toEqual([0, null]);
  expect(run.blocks.length).toBeGreaterThanOrEqual(run.truths.length);
  const exported = [...run.blocks, ...receiver.named('event-loop-blocked')];
  expect(receiver.named('event-loop-blocked').length).toBeGreaterThan(0);
  for (const { attributes } of exported) {
    const lengthOf = (name: string) => String(attributes[name] ?? '').length;
    const tooLong = Object.keys(attributes).filter((name) => lengthOf(name) > MAX_STACK_TRACE);
    expect(tooLong).toEqual([]);
    expect(lengthOf('code.function.name')).toBeLessThanOrEqual(MAX_NAME);
    expect(lengthOf('event_loop.async_resource.type')).toBeLessThanOrEqual(MAX_NAME);
    expect(lengthOf('code.file.path')).toBeLessThanOrEqual(MAX_FILE);
  }
  const named = run.blocks.map(({ attributes }) => [
    attributes['code.function.name'],
    attributes['code.file.path'],
  ]);
  const isSkipped = run.metrics.some(
    ({ name, attributes }) =>
      name === 'event_loop.own.skipped' && attributes['event_loop.own.step'] === 'name',
  );
  // To read a stack with 100 MB of text may take what there is for names.
  const orSkipped = (file: RegExp) => (isSkipped ? new RegExp(`${file.source}|^,$`) : file);
  expect(named.map(String)).toEqual([
    expect.stringMatching(/^named n+…,.*long-names\.cjs$/),
    expect.stringMatching(orSkipped(/^recur,…n+\/views\/list\.js$/)),
    expect.stringMatching(orSkipped(/^recur,data:text\/javascript,.*…$/)),
  ]);
  for (const line of run.stderr.split('\n')) expect(line.length).toBeLessThan(2 * MAX_STACK_TRACE);
});

test('V8 ends code in the middle of each call of the package: later blocks are reported as before', async () => {
  const run = await runApp('ended-halfway.cjs', { asyncHooks: 'auto' });

  expectExit(run);
  const after = run.truths.filter(({ label }) => label !== 'before a flush');
  expect(after).toHaveLength(10);
  for (const { label } of after) expectBlock(run, { truth: label, kind: 'callback' });
  expect(run.diags).toEqual([]);
});

describe.each(MODES)('with asyncHooks %s', (asyncHooks) => {
  test('callbacks that throw: their blocks are reported, and so are the ones after them', async () => {
    const places = [
      'timer',
      'immediate',
      'tick',
      'queueMicrotask',
      'async resource',
      'nested async resources',
      'HTTP client response',
      'promise',
    ];
    const run = await runApp('throwing.cjs', { asyncHooks });

    expect(run.notes['caught']).toEqual(
      ['handled', ...places].map((place) => `thrown in ${place}`),
    );
    expectBlocks(
      run,
      inCallbacks('handled', ...places.flatMap((place) => [place, `after ${place}`])),
    );
    expectBlockMetric(run);
    expectQuietExit(run);
  });

  test('toggling: a block is reported once, however often it was enabled and disabled before', async () => {
    const run = await runApp('toggling.cjs', { asyncHooks });

    expectBlocks(
      run,
      inCallbacks(
        'before',
        'after a thousand times',
        'after a hundred turns',
        'after toggling inside of callbacks',
        'at the end',
      ),
    );
    expectBlockMetric(run);
    expectQuietExit(run);
    expect(run.notes['with is restored']).toBe(true);
  });

  test('days of uptime: memory stays flat over 3 million async resources', async () => {
    const FLAT_BYTES = 1 << 20;
    const run = await runApp('uptime.cjs', { asyncHooks, nodeArgs: ['--expose-gc'] });

    expect(run.notes['resources']).toBe(3_000_000);
    expect(run.notes['heap growth']).toBeLessThan(FLAT_BYTES);
    expectQuietExit(run);
  });
});

test('an uncaught exception ends the process as it does without this package', async () => {
  const run = await runApp('throwing.cjs', { args: ['uncaught'] });

  expect(run.code).toBe(1);
  expect(run.stderr).toMatch(/^Error: thrown in uncaught$/m);
});

describe('telemetry that fails', () => {
  test.each([
    { part: 'onStart', spans: 0, logs: 1 },
    { part: 'onEnd', spans: 2, logs: 1 },
    { part: 'exporter', spans: 2, logs: 0 }, // the SDK logs it itself
    { part: 'exporter that never answers', spans: 2, logs: 0 },
    { part: 'blockHook', spans: 2, logs: 1 },
    { part: 'async blockHook', spans: 2, logs: 1 },
    { part: 'blockHook that never settles', spans: 2, logs: 0 },
    { part: 'sampler', spans: 0, logs: 1 },
    { part: 'sampler that drops', spans: 0, logs: 0 },
  ])(
    '$part: both blocks are counted, and the cause is logged once',
    async ({ part, spans, logs }) => {
      const run = await runApp('hostile-telemetry.cjs', { args: [part] });

      expectExit(run);
      judgeUnlessDelayed(runDelayOf(run), BLOCKS_DELAY_MILLIS, () =>
        expect(run.notes['calls']).toBe(2),
      );
      if (spans > 0) {
        expectBlocks(run, inCallbacks('first', 'second'));
        expectBlockMetric(run);
      } else {
        expect(run.blocks).toEqual([]);
        const millis = run.truths.reduce((sum, truth) => sum + truth.durationMillis, 0);
        expectBlockMetric(run, { count: 2, millis });
      }
      expect(logged(run).length).toBe(logs);
    },
  );

  test('context manager: a failing one is survived', async () => {
    const run = await runApp('hostile-telemetry.cjs', { args: ['context manager'] });

    expectExit(run);
    expect(run.notes['calls']).toBeGreaterThan(0);
    for (const truth of ['first', 'second']) expectBlock(run, { truth, kind: 'callback' });
    expectSoundBlocks(run);
    expect(logged(run).length).toBeLessThanOrEqual(3); // once per cause, not once per callback
  });
});

describe('more than one instance', () => {
  test('two instances: every block is reported once, by the one enabled last', async () => {
    const run = await runApp('two-instances.cjs');

    expectBlocks(run, withoutParent('both', 'second disabled', 'third enabled', 'first disabled'));
    expectBlockMetric(run);
    expectExit(run);
    expect(run.notes['reports']).toEqual(['second', 'first', 'third', 'third']);
    // `second` and `third`, once each
    expect(logged(run).map((line) => line.level)).toEqual(['warn', 'warn']);
  });
});

test('two copies of the package report a block once', async () => {
  const run = await runApp('two-copies.mjs');

  expectExit(run);
  expect(run.notes).toMatchObject({
    'import and require give one copy': true,
    'are two copies': true,
  });
  expectBlocks(run, withoutParent('both', 'one disabled'));
  expect(run.notes['reports']).toEqual(['import', 'copy']);
  expect(logged(run).map((line) => line.level)).toEqual(['warn']);
});

describe('an SDK that comes and goes', () => {
  test.each([
    ['SDK started late', ['with an SDK']],
    ['SDK shut down', ['with an SDK']],
    ['SDK shut down at once', ['right before']],
    ['not enabled', ['after enable']],
  ])('%s: what blocks while there is one is reported', async (way, truths) => {
    const run = await runApp('sdk-lifecycle.cjs', { args: [way] });

    expectBlocks(run, inCallbacks(...truths));
    expectBlockMetric(run);
    expectQuietExit(run);
  });

  test('SDK never started: nothing is reported, and nothing happens', async () => {
    const run = await runApp('sdk-lifecycle.cjs', { args: ['SDK never started'] });

    expect(run.truths.length).toBe(2);
    expect(run.spans).toEqual([]);
    expectQuietExit(run);
  });

  test('context manager replaced: parents come from the new one, and the old one is left alone', async () => {
    const run = await runApp('sdk-lifecycle.cjs', { args: ['context manager replaced'] });

    expectBlocks(run, [
      ...inCallbacks('first manager', 'second manager'),
      ...withoutParent('no manager'),
    ]);
    expectBlockMetric(run);
    expectQuietExit(run);
    expect(run.notes['first is left alone']).toBe(true);
  });
});

test('the watchdog killed: it comes back some times, then it is said once that there are no stacks any more', async () => {
  const run = await runApp('watchdog-killed.cjs', { asyncHooks: 'auto' });

  const truths = [
    'before',
    'after the first death',
    'after the last death',
    'waits after the last death',
    'await after the last death',
  ];
  expectBlocks(
    run,
    // Without stack samples, callbacks alone are known by hooks.
    truths.map((truth) => ({ truth, kind: truth.startsWith('await') ? undefined : 'callback' })),
  );
  expectBlockMetric(run);
  expectExit(run);
  expectNamed(run, { before: /./, 'after the first death': /./ });
  const names = run.blocks.slice(2).map((block) => block.attributes['code.function.name']);
  // `Atomics.wait` says by itself who called it.
  expect(names).toEqual([undefined, expect.any(String), undefined]);
  expect(run.diags.map(({ message }) => message)).toEqual([
    expect.stringContaining('captureStack is off: its watchdog thread has ended 4 times'),
  ]);
});

/** The new space is large enough for the strings of `freed-strings.cjs`. */
const NEW_SPACE_FLAGS = ['--max-semi-space-size=64', '--min-semi-space-size=64'];

test('what the process has freed makes the heap of the watchdog thread no larger than its limit', async () => {
  const run = await runApp('freed-strings.cjs', { asyncHooks: 'auto', nodeArgs: NEW_SPACE_FLAGS });

  expectQuietExit(run);
  expectNamed(run, { 'with a watchdog thread': /./ });
});

describe('the end of a process', () => {
  test('natural exit: nothing keeps the process alive', async () => {
    const run = await runApp('exits.cjs', { args: ['natural exit'] });

    expectQuietExit(run);
    expectNoOtherBlock(run);
  });

  test('a handler of beforeExit that blocks is not called again, which would never end', async () => {
    const run = await runApp('exits.cjs', {
      args: ['natural exit after a handler of beforeExit that blocks'],
    });

    expect(run.notes['beforeExit']).toBe(1);
    expectQuietExit(run);
  });

  /** To be sure, ask for more: `SCENARIO_EXITS=100`. */
  const EXITS = Number(process.env['SCENARIO_EXITS'] ?? 2);
  const MAX_EXIT_MILLIS = 10_000;
  const EXIT_CODES: [string, number | null, NodeJS.Signals | null][] = [
    ['natural exit from a block', 0, null],
    ['natural exit from a chain of awaits', 0, null],
    ['natural exit', 0, null],
    ['process.exit in a block', 3, null],
    ['process.reallyExit in a block', 3, null],
    ['process.exit out of a block', 3, null],
    ['uncaught exception in a block', 1, null],
    ['uncaught exception out of a block', 1, null],
    ['SIGTERM in a block', null, 'SIGTERM'],
    ['SIGTERM out of a block', null, 'SIGTERM'],
    ['SIGTERM to itself in a block', null, 'SIGTERM'],
    ['SIGTERM to itself in a chain of awaits', null, 'SIGTERM'],
    ['SIGTERM to itself right after disable()', null, 'SIGTERM'],
  ];
  // The default threshold is 100 ms: the first capture is made after 60. Ending there is the
  // hardest moment.
  test.each(EXIT_CODES)(
    '%s, while its stack is captured: no delay, no message',
    async (way, code, signal) => {
      for (let i = 0; i < EXITS; i++) {
        const millis = 60 + (i % 3);
        const run = await runApp('exits.cjs', { asyncHooks: 'auto', args: [way, String(millis)] });

        expect([run.code, run.signal]).toEqual([code, signal]);
        if (way.startsWith('uncaught'))
          expect(run.stderr).toMatch(
            /^\S+exits\.cjs:\d+\n.*Error: on purpose\n.*\nNode\.js v\S+\n$/s,
          );
        else if (/itself in|reallyExit/.test(way))
          // Node.js says so if a session is open.
          expect(run.stderr).toMatch(/^(?:Waiting for the debugger to disconnect\.\.\.\n)?$/);
        else expect(run.stderr).toBe('');
        expectPromptExit(run);
      }
    },
    EXITS * MAX_EXIT_MILLIS,
  );

  test.each([
    ['process.exit right after a block', ['block']],
    ['process.exit right after the SDK', [] as string[]],
  ])('%s: the block is reported; no delay, no message', async (way, labels) => {
    const run = await runApp('exits.cjs', { args: [way] });

    expectBlocks(run, withoutParent(...labels));
    expectExit(run, 3);
    expect(run.diags).toEqual([]);
  });

  test('signals to itself that do not end it: the function of a block after them is named', async () => {
    const run = await runApp('exits.cjs', { asyncHooks: 'auto', args: ['signals to itself'] });

    expectNamed(run, { block: NAME_OF_WORK });
    expectQuietExit(run);
  });

  test('SIGTERM that is handled: the block before it is reported', async () => {
    const run = await runApp('exits.cjs', { args: ['SIGTERM that is handled'] }, async (app) => {
      await app.printed('ready');
      app.child.kill('SIGTERM');
    });

    expectBlocks(run, withoutParent('block'));
    expectQuietExit(run);
  });

  test.each(['SIGTERM without a handler', 'SIGTERM in an endless loop'])(
    '%s ends the process',
    async (way) => {
      let killedAt = 0;
      const run = await runApp('exits.cjs', { args: [way] }, async (app) => {
        await app.printed('ready');
        killedAt = performance.now();
        app.child.kill('SIGTERM');
      });
      const endedAfter = performance.now() - killedAt;

      judgeUnlessDelayed(stalledSince(run, unixTime(killedAt)), EXIT_DELAY_MILLIS, () =>
        expect(endedAfter).toBeLessThan(EXIT_TOLERANCE_MILLIS),
      );
      expect([run.code, run.signal, run.stderr]).toEqual([null, 'SIGTERM', '']);
    },
  );
});

/** The function that blocked is named, in every case. */
function expectJobNamed(run: Run): void {
  expectNamed(run, { job: NAME_OF_WORK });
  expect(run.blocks[0]?.attributes).toMatchObject({
    'code.file.path': expect.stringMatching(/truth\.cjs$/),
    'code.stacktrace': expect.stringContaining('one-block.cjs'),
  });
}

describe('options of Node.js', () => {
  const permission = NODE_MAJOR < 22 ? '--experimental-permission' : '--permission';

  const permissions = [
    permission,
    '--allow-fs-read=*',
    '--allow-fs-write=*',
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=SecurityWarning',
  ];
  // Captures need the inspector, which Node.js 24 can permit, and earlier ones cannot.
  const INSPECTOR = process.allowedNodeEnvironmentFlags.has('--allow-inspector')
    ? ['--allow-inspector']
    : [];

  test.each([
    ['--permission', permissions, false],
    ['--permission --allow-worker', [...permissions, '--allow-worker'], false],
    [
      '--permission --allow-worker --allow-inspector',
      [...permissions, '--allow-worker', ...INSPECTOR],
      INSPECTOR.length > 0,
    ],
  ])('%s', async (_name, nodeArgs, canCapture) => {
    const run = await runApp('one-block.cjs', { nodeArgs });

    expectBlocks(run, oneBlock);
    expectBlockMetric(run);
    expectExit(run);
    expect(run.diags.map(({ message }) => message)).toEqual(
      canCapture
        ? []
        : [
            expect.stringContaining(
              'captureStack is off: the permission model does not allow the inspector',
            ),
          ],
    );
    if (canCapture) expectJobNamed(run);
  });

  test.each([
    ['--disallow-code-generation-from-strings --unhandled-rejections=strict', true],
    ['--frozen-intrinsics --disable-warning=ExperimentalWarning --stack-trace-limit=0', false],
  ])('%s', async (nodeArgs, isNamed) => {
    const run = await runApp('one-block.cjs', { nodeArgs: nodeArgs.split(' ') });

    expectBlocks(run, oneBlock);
    expectBlockMetric(run);
    expectQuietExit(run);
    if (isNamed) expectJobNamed(run);
  });

  const testOnLinux = process.platform === 'linux' ? test : globalThis.test.skip;
  testOnLinux('ulimit -v: no thread is started, and the log says so once', async () => {
    const run = await runApp('one-block.cjs', {
      node: '/bin/sh',
      nodeArgs: ['-c', 'ulimit -v 1600000; exec "$0" "$@"', process.execPath],
    });

    expectBlocks(run, oneBlock);
    expectBlockMetric(run);
    expectExit(run);
    expect(run.diags.map(({ message }) => message)).toEqual([
      `${PACKAGE} captureStack is off: a thread needs more address space than \`ulimit -v\` leaves`,
    ]);
  });

  test('NODE_OPTIONS', async () => {
    const run = await runApp('one-block.cjs', {
      env: { NODE_OPTIONS: '--enable-source-maps --stack-trace-limit=5 --max-old-space-size=300' },
    });

    expectBlocks(run, oneBlock);
    expectQuietExit(run);
    expectJobNamed(run);
  });

  test.each([
    [['prepareStackTrace replaced'], true],
    [['prepareStackTrace throwing', 'stackTraceLimit zero'], true],
    [['Error frozen'], false],
  ])('%j: it stays as it was', async (args, isNamed) => {
    const run = await runApp('one-block.cjs', { args });

    expectBlocks(run, oneBlock);
    expectBlockMetric(run);
    expectQuietExit(run);
    expect(run.notes['Error as it was']).toBe(true);
    if (isNamed) expectJobNamed(run);
  });

  test('--inspect with a client attached: it goes on, and nothing more is said at the end', async () => {
    const attaching = { from: 0, to: 0 };
    const run = await runApp(
      'inspected.cjs',
      { nodeArgs: ['--inspect=127.0.0.1:0'] },
      async (app) => {
        const url = await app.printed('inspector ');
        attaching.from = unixTime();
        const client = await DebuggerClient.attach(url);
        await client.call('Runtime.enable');
        await client.call('Debugger.enable');
        attaching.to = unixTime();
        app.child.stdin?.write('go\n');
        await app.printed('blocked');
        expect(await client.call('Runtime.evaluate', { expression: '6 * 7' })).toMatchObject({
          result: { value: 42 },
        });
        await client.detach();
      },
    );

    const job = expectBlock(run, { truth: 'job', kind: 'callback' });
    // V8 announces a thousand scripts, on the main thread: some 90 ms, which on a slow machine are
    // a block, and true.
    const others = run.blocks.filter((block) => block !== job);
    for (const other of others) {
      expect(other.startMillis).toBeGreaterThan(attaching.from - POSITION_TOLERANCE_MILLIS);
      expect(other.endMillis).toBeLessThan(attaching.to + POSITION_TOLERANCE_MILLIS);
      expect([other.parentSpanId, other.attributes['code.function.name']]).toEqual([
        undefined,
        undefined,
      ]);
    }
    expectSoundBlocks(run);
    expectBlockMetric(run);
    const nodesOwn =
      /^(Debugger listening on |For help, see: |Debugger attached\.|Debugger ending on )/;
    const said = run.stderr.split('\n').filter((line) => line !== '' && !nodesOwn.test(line));
    expect([run.code, said, run.diags]).toEqual([0, [], []]);
    expectPromptExit(run);
  });
});

describe('how it is loaded', () => {
  test('as an ES module', async () => {
    const run = await runApp('one-block.mjs');

    expectBlocks(run, oneBlock);
    expectBlockMetric(run);
    expectQuietExit(run);
  });

  test.each(['cjs', 'esm'])(
    'bundled by esbuild, with all of OpenTelemetry, as %s',
    async (format) => {
      const folder = makeFolder();
      const bundle = path.join(folder, format === 'cjs' ? 'bundle.cjs' : 'bundle.mjs');
      const requireForEsm =
        "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
      execFileSync(require.resolve('esbuild/bin/esbuild'), [
        appFile(format === 'cjs' ? 'one-block.cjs' : 'one-block.mjs'),
        '--bundle',
        '--minify',
        '--platform=node',
        '--log-level=error',
        `--format=${format}`,
        `--outfile=${bundle}`,
        ...(format === 'esm' ? [`--banner:js=${requireForEsm}`] : []),
      ]);
      const run = await runApp('one-block', { file: bundle });
      rmSync(folder, { recursive: true });

      expectBlocks(run, oneBlock);
      expectBlockMetric(run);
      expectQuietExit(run);
    },
  );

  test('in a cluster: each worker reports its own block, and the primary none', async () => {
    const run = await runApp('cluster.cjs', {}, async (app) => {
      const port = Number(await app.printed('listening '));
      /** Connections go to the workers in turn. */
      const send = sender(port, false);
      for (let i = 0; i < 6; i++) await send('/');
      await Promise.all([send('/block'), send('/block')]);
    });

    for (const truth of ['worker 1', 'worker 2']) expectBlock(run, { truth, kind: 'callback' });
    expectNoOtherBlock(run, 'worker 1', 'worker 2');
    expectSoundBlocks(run);
    expectBlockMetric(run);
    expectQuietExit(run);
  });
});

test('the process of node --test survives a block: Node.js has no inspector there', () => {
  const folder = appFile('test-runner');
  const output = execFileSync(
    process.execPath,
    [
      ...BACKGROUND,
      '--require',
      path.join(folder, 'preload.cjs'),
      '--test',
      path.join(folder, 'waits.test.cjs'),
    ],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], env: withoutTestContext() },
  );
  expect(output).toMatch(/pass 1\n/);
});

/** As from a shell, also if the tests are themselves run by one of these runners. */
function withoutTestContext(): NodeJS.ProcessEnv {
  return { ...process.env, NODE_OPTIONS: '', NODE_TEST_CONTEXT: undefined };
}
