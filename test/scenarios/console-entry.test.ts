/**
 * The entry `/console`: a program has its blocks reported, and does and ends as it does without.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text as streamText } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { OtlpReceiver } from '../../tools/otlp-receiver.cjs';
import { type App, appFile, makeFolder, type Run, runApp } from './support/run-app.ts';
import { test } from './support/scenario.ts';
import { judgeUnlessDelayed, runDelayOf } from './support/validity.ts';

const ENTRY = 'opentelemetry-instrumentation-event-loop/console';
const REGISTER = 'opentelemetry-instrumentation-event-loop/register';
const ROOT = path.join(__dirname, '../..');
const OPTION = 'OTEL_INSTRUMENTATION_EVENT_LOOP_';

interface Options {
  app?: string;
  preload?: string[];
  env?: Record<string, string>;
}

function run(way: string, options: Options = {}, drive?: (app: App) => Promise<void>) {
  const { app = 'app.cjs', preload = ['--import', ENTRY], env = {} } = options;
  return runApp(
    app,
    { file: appFile(`console/${app}`), args: [way], nodeArgs: preload, env, cwd: ROOT },
    drive,
  );
}

const linesOf = ({ stderr }: Run) => stderr.split('\n').filter((line) => line !== '');
const LINE =
  /^event-loop-blocked [\d.]+ m?s callback: hashRow \(.*apps\/console\/work\.cjs:\d+:\d+\)/;
/** For JavaScript, in `docs/agents.md`; once, since all blocks are of one function. */
const ADVICE = 'Do less at once, return to the event loop in between, or use a worker thread.';
/** From a line to the end of a test on a busy machine. */
const LOG_AGE_MILLIS = 60_000;
const BLOCK = /^event-loop-blocked [\d.]+ m?s /;
const SUMMARY = /^event-loop-blocked: (\d+) blocks?, /;
/** What the machine may take of a run without changing what is a block, and how it is named. */
const DELAY_MILLIS = 20;
const judgeBlocks = (ended: Run, judge: () => void) =>
  judgeUnlessDelayed(runDelayOf(ended), DELAY_MILLIS, judge);
const summariesOf = (ended: Run) => linesOf(ended).filter((line) => SUMMARY.test(line));

describe.each(['app.cjs', 'app.mjs'])('%s', (app) => {
  test.each([['--import'], ['--require']])(
    '%s: a line for each block and the summary, with no SDK and no variable',
    async (flag) => {
      const ended = await run('by itself', { app, preload: [flag, ENTRY] });
      const lines = linesOf(ended);
      const at = lines.findIndex((line) => LINE.test(line));
      judgeBlocks(ended, () => expect(at).toBeGreaterThanOrEqual(0));
      judgeBlocks(ended, () => expect(lines[at + 1]).toBe(`  ${ADVICE}`));
      expect(lines.filter((line) => line === `  ${ADVICE}`)).toHaveLength(1);
      expect(summariesOf(ended)).toHaveLength(1);
      expect(linesOf(ended).at(-1)).not.toMatch(BLOCK);
      expect(ended.stdout).toBe('loaded false\n');
      expect([ended.code, ended.signal]).toEqual([0, null]);
    },
  );
});

test('preloaded twice it reports once', async () => {
  const ended = await run('by itself', { preload: ['--require', ENTRY, '--import', ENTRY] });
  judgeBlocks(ended, () =>
    expect(linesOf(ended).filter((line) => LINE.test(line))).toHaveLength(1),
  );
  expect(summariesOf(ended)).toHaveLength(1);
});

test.each(['process.exit', 'exit code', 'crash', 'rejection'])(
  '%s: code and output stay what they are, beside one summary',
  async (way) => {
    const without = await run(way, { preload: [] });
    const ended = await run(way);
    expect([ended.code, ended.signal, ended.stdout]).toEqual([
      without.code,
      without.signal,
      without.stdout,
    ]);
    const lines = linesOf(ended);
    const own = (line: string) =>
      /^(event-loop-blocked|at start-up|not the application| {2,}[\d.]+ m?s \(| {2}[A-Z])/.test(
        line,
      );
    expect(lines.filter((line) => !own(line))).toEqual(linesOf(without));
    expect(summariesOf(ended)).toHaveLength(1);
  },
);

test.each(['auto', 'always'])(
  'the block that ends with process.exit() is in the report: asyncHooks %s',
  async (mode) => {
    const env = { OTEL_INSTRUMENTATION_EVENT_LOOP_ASYNC_HOOKS: mode };
    const ended = await run('process.exit', { env });
    judgeBlocks(ended, () => expect(summariesOf(ended)[0]).toContain(': 2 blocks, '));
  },
);

describe('signals', () => {
  /** The listener is that of /register, whose tests have the other ways, and the other signal. */
  const WAYS = [
    'no listener',
    'a listener that closes the server',
    'all listeners are removed, then process.exit',
  ];

  const end = async (way: string, nodeArgs: string[]) => {
    const { stdout, stderr, ...ended } = await runApp(
      'service.cjs',
      { file: appFile('signals/service.cjs'), args: [way], nodeArgs },
      async (app) => {
        await app.printed('listening');
        app.child.kill('SIGINT');
      },
    );
    const said = stdout.replace(/^listening .*\n/m, '');
    return { end: [ended.code, ended.signal, said], stderr };
  };

  test.each(WAYS)('%s: the process ends as it does without, after the summary', async (way) => {
    const [without, under] = await Promise.all([end(way, []), end(way, ['--import', ENTRY])]);
    expect(under.end).toEqual(without.end);
    expect(under.stderr.match(/^event-loop-blocked: /gm)).toHaveLength(1);
    expect(without.stderr).toBe('');
  });

  test('a process whose event loop does not turn is ended by the signal at once', async () => {
    const ended = await run('never turns again', {}, async (app) => {
      await app.printed('blocks');
      await new Promise((resolve) => setTimeout(resolve, 4000));
      app.child.kill('SIGINT');
    });
    expect(ended.signal).toBe('SIGINT');
  });

  test('a signal that comes before that is not lost: it ends the process after the block', async () => {
    const ended = await run('blocks for long', {}, async (app) => {
      await app.printed('blocks');
      app.child.kill('SIGTERM');
    });
    expect(ended.signal).toBe('SIGTERM');
    expect(summariesOf(ended)).toHaveLength(1);
  });

  test.each([[[ENTRY, REGISTER]], [[REGISTER, ENTRY]]])(
    'beside /register, %j: the telemetry is sent, each block and the summary is printed once',
    async (entries) => {
      const receiver = await OtlpReceiver.listen();
      try {
        const preload = entries.flatMap((entry) => ['--import', entry]);
        const env = { ...receiver.env, [`${OPTION}CONSOLE`]: 'true' };
        const ended = await run('server', { preload, env }, async (app) => {
          await app.printed('listening');
          app.child.kill('SIGTERM');
        });
        expect(ended.signal).toBe('SIGTERM');
        expect(receiver.metricNames).toContain('event_loop.lag');
        const named = linesOf(ended).filter((line) => LINE.test(line));
        judgeBlocks(ended, () => expect(named.length).toBeGreaterThanOrEqual(2));
        expect(new Set(named).size).toBe(named.length);
        expect(summariesOf(ended)).toHaveLength(1);
      } finally {
        await receiver.close();
      }
    },
  );
});

test.each(['0', '7200000', '-3000'])(
  'start-up is kept apart in the summary, also if the wall clock is stepped by %s ms',
  async (CLOCK_STEP) => {
    const preload = ['--require', appFile('console/clock-step.cjs'), '--import', ENTRY];
    const file = path.join(makeFolder(), 'report.html');
    const env = { CLOCK_STEP, [`${OPTION}REPORT_FILE`]: file };
    const ended = await run('server', { preload, env }, async (app) => {
      await app.printed('listening');
      // Longer than the interval at which the package looks at the wall clock.
      await wait(500);
      app.child.kill('SIGINT');
    });
    const lines = linesOf(ended).join('\n');
    const [, json = ''] =
      /id="event-loop-report">(.*)<\/script>/.exec(readFileSync(file, 'utf8')) ?? [];
    const { startTimeMillis, endTimeMillis, blocks } = JSON.parse(json);
    judgeBlocks(ended, () => {
      expect(lines).toMatch(/^event-loop-blocked: 1 block, [\d.]+ m?s of \d+ ms /m);
      expect(lines).toMatch(/^at start-up: (.*; )?\d blocks?, .* until a server listened$/m);
      expect(endTimeMillis - startTimeMillis).toBeLessThan(10_000);
      for (const { startTimeMillis: start, durationMillis } of blocks) {
        expect(start).toBeGreaterThan(startTimeMillis);
        expect(start + durationMillis).toBeLessThan(endTimeMillis);
      }
      const [first, second] = blocks;
      expect(second.startTimeMillis - first.startTimeMillis).toBeLessThan(5000);
    });
  },
);

test("an application's own instrumentation is active while it is enabled; all is reported once", async () => {
  const ended = await run('own instrumentation');
  const lines = linesOf(ended).filter((line) => BLOCK.test(line));
  judgeBlocks(ended, () => {
    expect(lines).toHaveLength(3);
    // The application's threshold is 50 ms.
    expect(lines[1]).toMatch(/hashRow/);
    expect(summariesOf(ended)[0]).toContain(': 3 blocks, ');
  });
  expect(summariesOf(ended)).toHaveLength(1);
});

test('blocks of expectBlock, and those that ignoreBlockHook ignores, are not printed', async () => {
  const ended = await run('unwanted blocks');
  const lines = linesOf(ended).filter((line) => BLOCK.test(line));
  judgeBlocks(ended, () => {
    for (const line of lines) expect(line).toMatch(LINE);
    expect(lines).toHaveLength(2);
    expect(summariesOf(ended)[0]).toContain(': 2 blocks, ');
  });
});

test('a worker thread is not reported', async () => {
  const ended = await run('worker thread');
  judgeBlocks(ended, () =>
    expect(linesOf(ended).filter((line) => LINE.test(line))).toHaveLength(1),
  );
  expect(summariesOf(ended)).toHaveLength(1);
});

test.each(['ENABLED', 'CONSOLE'])('%s=false: nothing', async (name) => {
  const ended = await run('by itself', { env: { [`${OPTION}${name}`]: 'false' } });
  expect(ended.stderr).toBe('');
});

test('a bad value is said, and ignored', async () => {
  const ended = await run('by itself', { env: { [`${OPTION}CONSOLE`]: 'jsno' } });
  expect(linesOf(ended)[0]).toBe(
    `${ENTRY}: ${OPTION}CONSOLE is "jsno", expected true, false or 'json'; using true`,
  );
  judgeBlocks(ended, () => expect(linesOf(ended)[1]).toMatch(LINE));
});

test('json: each line is an object that the schema in the package describes', async () => {
  const schema = JSON.parse(readFileSync(require.resolve(`${ENTRY}.schema.json`), 'utf8'));
  const validate = new Ajv2020({ strict: true }).compile(schema);
  const env = { [`${OPTION}CONSOLE`]: 'json' };
  const ended = await run('server', { env }, async (app) => {
    await app.printed('listening');
    app.child.kill('SIGTERM');
  });
  const objects = linesOf(ended).map((line) => JSON.parse(line));
  for (const object of objects) {
    validate(object);
    expect(validate.errors).toBeNull();
    // What pino, Bunyan and Loki know a line by.
    expect(object.level).toBe(object.type === 'event-loop-summary' ? 30 : 40);
    expect(Math.abs(object.time - Date.now())).toBeLessThan(LOG_AGE_MILLIS);
    expect(object.msg).toMatch(object.type === 'event-loop-summary' ? SUMMARY : BLOCK);
  }
  const types = objects.map(({ type }) => type);
  judgeBlocks(ended, () => {
    expect(types.filter((type) => type === 'event-loop-blocked').length).toBeGreaterThanOrEqual(2);
    expect(objects.at(-1).startUp.places.length).toBeGreaterThanOrEqual(1);
  });
  expect(types.filter((type) => type === 'event-loop-summary')).toHaveLength(1);
  expect(types.at(-1)).toBe('event-loop-summary');
});

test.each(['true', 'json'])(
  'console: %s: a place has ten lines a minute, and a count',
  async (format) => {
    const ended = await run('thirteen times more', { env: { [`${OPTION}CONSOLE`]: format } });
    const text = linesOf(ended).map((line) => (format === 'json' ? JSON.parse(line).msg : line));
    const shown = text.filter((line) => BLOCK.test(line));
    const numberIn = (pattern: RegExp) =>
      Number(text.map((line) => pattern.exec(line)?.[1]).find(Boolean));
    const repeated = numberIn(/^event-loop-blocked (\d+) more times?, \d+ ms in all: hashRow \(/);
    // A block may be named by another line of the loop.
    judgeBlocks(ended, () => {
      expect(repeated).toBeGreaterThanOrEqual(2);
      expect(shown.length + repeated).toBe(numberIn(SUMMARY));
      expect(numberIn(SUMMARY)).toBe(14);
    });
  },
);

describe('an application that logs more than the reader takes', () => {
  const LOGGED = /^request \d+ -+$/;
  const ONGOING = /\d\d:\S+Z event-loop-blocked for [\d.]+ s, not ended: .*, pid \d+$/;

  /** Runs it; nobody reads its stderr until it has printed this, or it is a file. */
  async function logs(
    end: string,
    env: Record<string, string>,
    into: 'pipe' | 'file',
    until = 'done',
  ) {
    const folder = makeFolder();
    const file = path.join(folder, 'stderr');
    const child = spawn(process.execPath, ['--import', ENTRY, appFile('console/logs.cjs'), end], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', into === 'pipe' ? 'pipe' : openSync(file, 'a')],
      env: { ...process.env, ...env },
    });
    for await (const line of createInterface({ input: child.stdout as Readable }))
      if (line === until) break;
    const [text, [code]] = await Promise.all([
      into === 'pipe' ? streamText(child.stderr as Readable) : undefined,
      once(child, 'exit'),
    ]);
    expect(code).toBe(0);
    const lines = (text ?? readFileSync(file, 'utf8')).split('\n').filter((line) => line !== '');
    rmSync(folder, { recursive: true });
    return lines;
  }

  const JSON_ENV = { [`${OPTION}CONSOLE`]: 'json' };

  test('stderr is a file: each line is whole, and none is lost', async () => {
    const lines = await logs('by itself', JSON_ENV, 'file');
    const isLogged = (line: string) => line.startsWith('request');
    const objects = lines.filter((line) => !isLogged(line)).map((line) => JSON.parse(line));
    const summary = objects.pop();
    expect(summary).toMatchObject({ type: 'event-loop-summary', blocks: objects.length });
    expect(objects.length).toBeGreaterThanOrEqual(3);
    for (const { type } of objects) expect(type).toBe('event-loop-blocked');
    expect(lines.filter((line) => LOGGED.test(line))).toHaveLength(9000);
  });

  test('stderr is a pipe: what is there is whole, and what the application logs as well', async () => {
    const text = (await logs('by itself', JSON_ENV, 'pipe')).join('\n');
    const ours: string[] = [];
    const theirs = `${text}\n`.replace(/\{"type":"event-loop-.*\}\n/g, (line) => {
      ours.push(line);
      return '';
    });
    const types = ours.map((line) => JSON.parse(line).type);
    expect(types.at(-1)).toBe('event-loop-summary');
    const lines = theirs.trimEnd().split('\n');
    expect(lines.filter((line) => !LOGGED.test(line))).toEqual([]);
    expect(lines).toHaveLength(9000);
  });

  test('stderr is a pipe, process.exit: the summary is there', async () => {
    const text = (await logs('process.exit', JSON_ENV, 'pipe')).join('\n');
    expect(text).toMatch(/\{"type":"event-loop-summary".*\}$/);
  });

  test('the line of an ongoing block is whole', async () => {
    const env = { [`${OPTION}UNFINISHED_AFTER_MILLIS`]: '100' };
    const lines = await logs('by itself', env, 'pipe', 'blocks');
    const ongoing = lines.filter((line) => line.includes('not ended'));
    expect(ongoing.length).toBeGreaterThan(0);
    for (const line of ongoing) expect(line).toMatch(ONGOING);
  });
});

describe('an application that shares hostile things', () => {
  test.each([
    { what: 'value on Object.prototype', when: 'at once' },
    { what: 'writable on Object.prototype', when: 'at once' },
    { what: 'writable on Object.prototype', when: 'later' },
    { what: 'ten listeners', when: 'at once' },
    { what: 'ten listeners', when: 'later' },
    { what: 'fifteen blocks of one iteration', when: 'later' },
  ])(
    '$what, $when: it runs to its end, and nothing is printed but what it asked for',
    async ({ what, when }) => {
      const { stdout, stderr, code } = await runApp('hostile.cjs', {
        file: appFile('console/hostile.cjs'),
        args: [what, when],
        nodeArgs: ['--require', ENTRY],
        cwd: ROOT,
      });
      expect([stdout, code]).toEqual(['end\n', 0]);
      expect(
        stderr.replace(/^(event-loop-blocked|at start-up|not the application| {2}).*\n/gm, ''),
      ).toBe('');
    },
  );
});

describe('requests without an SDK', () => {
  const serve = (way: string, options: Options = {}) =>
    run(way, { app: 'requests.cjs', ...options });
  /** What an `await` has gone through is known without async_hooks only. */
  const KNOWS_AWAIT = Number.parseInt(process.versions.node, 10) >= 24;

  test('a block has the route of its request, and the summary those that waited', async () => {
    const ended = await serve('express');
    const lines = linesOf(ended);
    judgeBlocks(ended, () => {
      const operations = lines
        .filter((line) => BLOCK.test(line))
        .map((line) => /\), ((?:GET|POST) \S+)$/.exec(line)?.[1]);
      expect(operations).toEqual(['GET /sync/:user', 'GET /await', 'GET /timer', 'POST /body']);
      expect(lines.find((line) => / in 4 blocks, /.test(line))).toMatch(/, \d requests? waited /);
      expect(lines.find((line) => line.includes('GET /waits: '))).toMatch(/ [12] of 3, p50 /);
    });
    expect(ended.stderr).not.toContain('jane');
  });

  test('a route is told with where its router is mounted, but for what stands in the path', async () => {
    const ended = await serve('mounted');
    judgeBlocks(ended, () => {
      const operations = linesOf(ended).flatMap((line) => /\), (GET \S+)$/.exec(line)?.[1] ?? []);
      expect(operations).toEqual(['GET /imports', 'GET /users/*/comments']);
    });
    expect(ended.stderr).not.toContain('jane');
  });

  test.each(['body', 'chunk'])(
    'what a listener of a %s starts is its request, without async_hooks',
    async (way) => {
      const ended = await serve(way);
      const block = linesOf(ended).find((line) => BLOCK.test(line));
      // With them, by its answer alone, if that came in the block.
      const said = KNOWS_AWAIT ? /\), POST \/\*$/ : /\)(?:, POST \/\*)?$/;
      judgeBlocks(ended, () => expect(block).toMatch(said));
    },
  );

  test('what a request has started is not its own once it has its answer', async () => {
    const ended = await serve('poller');
    const lines = linesOf(ended).filter((line) => BLOCK.test(line));
    for (const line of lines) expect(line).not.toMatch(/\), GET/);
    const isSaid = (line: string) => line.endsWith(', of what GET /* started');
    judgeBlocks(ended, () => {
      expect(lines).toHaveLength(2);
      expect(lines.filter(isSaid)).toHaveLength(KNOWS_AWAIT ? 2 : 0);
    });
  });

  test('nothing of a path is told, only how many parts it has', async () => {
    const ended = await serve('plain', { env: { [`${OPTION}REPORT_FILE`]: '/dev/stderr' } });
    judgeBlocks(ended, () => expect(ended.stderr).toContain('), GET /*/*/*\n'));
    expect(ended.stderr).not.toMatch(/jane|deadbeef|secret|reset/);
  });

  test('none waits for what ran before a server listened', async () => {
    const env = { [`${OPTION}CONSOLE`]: 'json' };
    const ended = await run('by itself', { app: 'late-server.cjs', env });
    const summary = JSON.parse(linesOf(ended).at(-1) ?? '');
    expect(summary).toMatchObject({ startUp: { blocks: 1 }, routes: [{ count: 1 }] });
    // From when it listened to its first turn.
    expect(summary.queuedMillis).toBeLessThan(100);
  });

  test.each([
    ['of clients that go away', 'aborted'],
    ['that have ended, and left a timer', 'timers'],
  ])('requests %s are not kept', async (_which, way) => {
    const { stdout } = await serve(way, { preload: ['--expose-gc', '--import', ENTRY] });
    // The latest one may be in use.
    expect(Number(/^kept (\d+)$/m.exec(stdout)?.[1])).toBeLessThanOrEqual(2);
  });

  test('with an SDK, they are those of its spans, and the channels are left', async () => {
    expect((await serve('sdk')).stdout).toContain('subscribed false');
    expect((await serve('plain')).stdout).toContain('subscribed true');
  });
});
