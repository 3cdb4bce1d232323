/**
 * The entry `/register`: applications that know nothing of it, and what comes of them at an OTLP
 * receiver.
 */

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import * as nodeModule from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { OtlpReceiver } from '../../tools/otlp-receiver.cjs';
import { apiVersion, installApart } from './support/install-apart.ts';
import {
  type App,
  type AppOptions,
  appFile,
  type Run,
  runApp,
  warmClientOf,
} from './support/run-app.ts';
import { afterEachMeasurement, beforeEachMeasurement, test } from './support/scenario.ts';
import { judgeUnlessDelayed, runDelayOf } from './support/validity.ts';

const NAME = 'opentelemetry-instrumentation-event-loop';
const ENTRY = `${NAME}/register`;
const API = '@opentelemetry/api';
const SERVER_KIND = 2;
/**
 * Of the run: what the machine may take without keeping the watchdog thread from the block of 250
 * ms.
 */
const NAMING_DELAY_MILLIS = 100;
const WARM_UP_REQUESTS = 10;

let receiver: OtlpReceiver;
beforeEachMeasurement(async () => {
  receiver = await OtlpReceiver.listen();
});
afterEachMeasurement(() => receiver.close());

type Drive = (get: (path: string) => Promise<unknown>, app: App) => Promise<unknown>;

/** Runs an application to its end, with the entry preloaded. */
function run(
  file: string,
  preload: string[],
  drive: Drive,
  options: AppOptions = {},
  warmUpRequests = WARM_UP_REQUESTS,
) {
  return runApp(
    file,
    {
      ...options,
      file: appFile(`plain/${file}`),
      nodeArgs: preload,
      env: { ...receiver.env, OTEL_SERVICE_NAME: 'plain', ...options.env },
    },
    async (app) => {
      await drive(await warmClientOf(app, '/slow', warmUpRequests), app);
    },
  );
}

const report: Drive = async (get) => {
  await get('/report');
  await get('/end');
};

/**
 * The block is reported once, under the span of its request, with its function; and nothing else is
 * reported.
 */
function expectReport(file: string, run: Run): void {
  const blocks = receiver
    .named('event-loop-blocked')
    .filter(({ attributes }) => attributes['code.function.name'] === 'renderReport');
  judgeUnlessDelayed(runDelayOf(run), NAMING_DELAY_MILLIS, () => expect(blocks).toHaveLength(1));
  const [block] = blocks;
  const request = receiver.spans.find(
    ({ kind, attributes }) =>
      kind === SERVER_KIND && (attributes['url.path'] ?? attributes['http.target']) === '/report',
  );
  expect(block).toMatchObject({
    traceId: request?.traceId,
    parentSpanId: request?.spanId,
    attributes: { 'code.file.path': appFile(`plain/${file}`) },
    resource: { 'service.name': 'plain' },
  });
  expect(block?.seconds).toBeGreaterThanOrEqual(0.25);
  expect(receiver.metricNames).toContain('event_loop.lag');
  expect(receiver.metricNames).toContain('event_loop.block.duration');
}

describe('an application that knows nothing of it', () => {
  test.each<[string, string[], Record<string, string>]>([
    ['service.cjs', ['--import', ENTRY], {}],
    ['service.mjs', ['--import', ENTRY], {}],
    ['service.cjs', ['--require', ENTRY], {}],
    ['service.cjs', ['--require', ENTRY, '--import', ENTRY], {}],
    // Threads inherit it.
    ['service.cjs', [], { NODE_OPTIONS: `--import=${ENTRY}` }],
  ])(
    '%s with %p and %p: its block arrives before it ends by itself',
    async (file, preload, env) => {
      const ended = await run(file, preload, report, { env });
      const { code, stderr, stdout } = ended;
      expectReport(file, ended);
      expect(code).toBe(7);
      expect(stderr).toBe('');
      expect(stdout).toMatch(/^listening \d+\n$/);
    },
  );

  test('a block of the first request to an ES module, right after its start', async () => {
    await run('service.mjs', ['--import', ENTRY], report, {}, 0);
    const [request] = receiver.spans.filter(
      ({ kind, attributes }) => kind === SERVER_KIND && attributes['url.path'] === '/report',
    );
    const [block, ...others] = receiver.named('event-loop-blocked');
    expect(block).toMatchObject({ parentSpanId: request?.spanId });
    expect(others).toEqual([]);
  });

  test.each([
    ['service.cjs', { code: null, signal: 'SIGTERM', stderr: '' }],
    ['service-with-cleanup.cjs', { code: 3, signal: null, stderr: '' }],
  ])('SIGTERM to %s: everything is sent, then it ends with %j', async (file, end) => {
    const ended = await run(file, ['--import', ENTRY], async (get, app) => {
      await get('/report');
      app.child.kill('SIGTERM');
    });
    expect(ended).toMatchObject(end);
    expectReport('service.cjs', ended);
  });
});

test('a variable that is misspelt or wrong is said once on stderr, or in the log of the SDK', async () => {
  const OPTION = 'OTEL_INSTRUMENTATION_EVENT_LOOP_';
  const wrong = { [`${OPTION}TRESHOLD`]: '5', [`${OPTION}LAG_INTERVAL_MILLIS`]: 'often' };
  const said = async (env: Record<string, string>) => {
    const file = appFile('plain/nothing.cjs');
    const options = { file, nodeArgs: ['--import', ENTRY], env: { ...receiver.env, ...env } };
    const { stderr } = await runApp('nothing.cjs', options);
    return stderr.trim().split('\n');
  };
  const lines = [
    expect.stringContaining(`TRESHOLD"; the nearest is ${OPTION}THRESHOLD_MILLIS`),
    expect.stringContaining(`${OPTION}LAG_INTERVAL_MILLIS is "often", expected a whole number`),
  ];
  expect(await said(wrong)).toEqual(lines);
  expect(await said({ ...wrong, OTEL_LOG_LEVEL: 'warn' })).toEqual(lines);
  expect(await said({ ...wrong, OTEL_LOG_LEVEL: 'none' })).toEqual(['']);
});

test.each(['--import', '--require'])('%s: a worker thread loads the entry alone', async (flag) => {
  const { stdout, stderr } = await runApp('worker-modules.cjs', {
    file: appFile('plain/worker-modules.cjs'),
    env: { ...receiver.env, NODE_OPTIONS: `${flag}=${ENTRY}` },
    withoutBackground: 'it lists all modules that a worker thread loads',
  });
  expect(stderr).toBe('');
  expect(stdout.trim()).toMatch(flag === '--import' ? /^$/ : /^\S+register\.cjs$/);
});

test('an application whose own instrumentation is enabled meanwhile: no wrapper is left after it', async () => {
  const { stdout, stderr } = await runApp('enabled-meanwhile.mjs', {
    file: appFile('plain/enabled-meanwhile.mjs'),
    nodeArgs: ['--import', ENTRY],
    env: receiver.env,
  });
  // If Node.js hooks modules in this thread, that of /register is enabled before, and stays so.
  const isKept = 'registerHooks' in nodeModule;
  expect({ stdout, stderr }).toEqual({
    stdout: isKept ? 'wrapped\n' : 'as Node.js made it\n',
    stderr: '',
  });
});

describe('an ES module', () => {
  test('that took its reference to a built-in while it was loaded: the call is named', async () => {
    const ended = await run('service.mjs', ['--import', ENTRY], async (get) => {
      await get('/rows');
      await get('/end');
    });
    const [block] = receiver.named('event-loop-blocked');
    judgeUnlessDelayed(runDelayOf(ended), NAMING_DELAY_MILLIS, () =>
      expect(block?.attributes).toMatchObject({
        'code.function.name': 'exportRows',
        'event_loop.block.native_call': 'JSON.stringify',
      }),
    );
  });

  /** What it answers, and whether the request has a span. */
  async function answerOf(preload: string[], env: Record<string, string> = {}) {
    let answer = '';
    const ended = await runApp(
      'rebound-exports.mjs',
      {
        file: appFile('plain/rebound-exports.mjs'),
        nodeArgs: preload,
        env: { ...receiver.env, ...env },
      },
      async (app) => {
        const response = await fetch(`http://127.0.0.1:${await app.printed('listening')}/page`);
        answer = await response.text();
      },
    );
    const hasSpan = receiver.spans.some(({ kind }) => kind === SERVER_KIND);
    return { answer, hasSpan, code: ended.code, stderr: ended.stderr };
  }

  test.each<[string, string[], Record<string, string>]>([
    [
      '--import, this package disabled',
      ['--import', ENTRY],
      { OTEL_INSTRUMENTATION_EVENT_LOOP_ENABLED: 'false' },
    ],
    ['NODE_OPTIONS, twice', ['--import', ENTRY], { NODE_OPTIONS: `--import ${ENTRY}` }],
  ])('%s: an export that is assigned to later has its new value', async (_how, preload, env) => {
    expect(await answerOf(preload, env)).toEqual({
      answer: 'old new',
      hasSpan: true,
      code: 0,
      stderr: '',
    });
  });

  test('--require: one line on stderr says that its requests have no spans', async () => {
    const { answer, hasSpan, stderr } = await answerOf(['--require', ENTRY]);
    expect({ answer, hasSpan }).toEqual({ answer: 'old new', hasSpan: false });
    expect(stderr).toMatch(
      /^opentelemetry-instrumentation-event-loop\/register: preloaded by --require into an ES module.*: node --import opentelemetry-instrumentation-event-loop\/register\n$/,
    );
  });

  test('--require, and no exporter of traces: no line', async () => {
    const { stderr } = await answerOf(['--require', ENTRY], { OTEL_TRACES_EXPORTER: 'none' });
    expect(stderr).not.toContain('preloaded by --require');
  });
});

test.each([['propagator'], ['meter provider'], ['context manager']])(
  'an application that registers only a %s: its spans are exported as before',
  async (part) => {
    const options = { args: [part] };
    const ended = await run('service-with-part.cjs', ['--import', ENTRY], report, options);
    const request = receiver.spans.find(
      ({ kind, attributes }) =>
        kind === SERVER_KIND && (attributes['url.path'] ?? attributes['http.target']) === '/report',
    );
    expect(request).toBeDefined();
    const blocks = receiver.named('event-loop-blocked').map(({ parentSpanId }) => parentSpanId);
    judgeUnlessDelayed(runDelayOf(ended), NAMING_DELAY_MILLIS, () =>
      expect(blocks).toEqual([request?.spanId]),
    );
    // A meter provider of the application's has the metrics.
    expect(receiver.metricNames.has('event_loop.lag')).toBe(part !== 'meter provider');
    expect(ended.stdout.includes('metric event_loop.lag')).toBe(part === 'meter provider');
    expect([ended.code, ended.stderr]).toEqual([7, '']);
  },
);

describe('an application with an SDK of its own', () => {
  const ownSpans = (stdout: string) =>
    [...stdout.matchAll(/^span (.*)$/gm)].map(([, json]) => JSON.parse(String(json)));

  test.each([
    ['service-with-sdk.cjs', 'started later', ['--import', ENTRY]],
    ['service-with-sdk.mjs', 'started later', ['--import', ENTRY]],
    ['service-with-sdk.cjs', 'started later', ['--require', ENTRY]],
    ['service-with-part.cjs', 'started after its propagator', ['--require', ENTRY]],
    [
      'service-with-sdk.cjs',
      'started later, if the preloaded one cannot be removed completely',
      ['--require', appFile('plain/hostile-instrumentation.cjs'), '--require', ENTRY],
    ],
    [
      'service.cjs',
      'preloaded before',
      ['--require', appFile('plain/tracing.cjs'), '--require', ENTRY],
    ],
    [
      'service.cjs',
      'preloaded after',
      ['--require', ENTRY, '--require', appFile('plain/tracing.cjs')],
    ],
  ])(
    '%s, %s: has the blocks in its own traces, each request once',
    async (file, _when, preload) => {
      const ended = await run(file, preload, report);
      expectOwnTraces(ended, WARM_UP_REQUESTS + 2);
      // What it got before the application's SDK came is all that the preloaded one has.
      judgeUnlessDelayed(runDelayOf(ended), NAMING_DELAY_MILLIS, () =>
        expect(receiver.named('event-loop-blocked')).toEqual([]),
      );
      expect(receiver.spans.filter(({ kind }) => kind === SERVER_KIND)).toEqual([]);
    },
  );

  function expectOwnTraces(ended: Run, requestCount: number) {
    const spans = ownSpans(ended.stdout);
    const block = spans.find((span) => span.code === 'renderReport');
    judgeUnlessDelayed(runDelayOf(ended), NAMING_DELAY_MILLIS, () => expect(block).toBeDefined());
    const requests = spans.filter(
      (span) => span.traceId === block.traceId && span.name !== block.name,
    );
    expect(requests).toEqual([expect.objectContaining({ kind: SERVER_KIND - 1 })]);
    expect(spans.filter((span) => span.kind === SERVER_KIND - 1)).toHaveLength(requestCount);
    expect(ended.stderr).toBe('');
    expect(ended.code).toBe(7);
  }

  describe('of a distribution', () => {
    let folder: string;
    let distribution: string;
    beforeEach(() => {
      folder = mkdtempSync(path.join(tmpdir(), 'event-loop-register-'));
      distribution = path.join(folder, 'node_modules', '@splunk', 'otel', 'instrument.cjs');
      mkdirSync(path.dirname(distribution), { recursive: true });
      writeFileSync(distribution, `require(${JSON.stringify(appFile('plain/tracing.cjs'))});\n`);
    });
    afterEach(() => rmSync(folder, { recursive: true, force: true }));

    test.each([
      ['before', () => ['--import', distribution, '--import', ENTRY]],
      ['after', () => ['--import', ENTRY, '--import', distribution]],
    ])('preloaded %s: is the only SDK, and stalled spans say so', async (_when, preload) => {
      const ended = await run('service.cjs', preload(), async (get) => {
        await Promise.all([get('/slow'), get('/report')]);
        await get('/end');
      });
      expectOwnTraces(ended, WARM_UP_REQUESTS + 3);
      const stalls = ownSpans(ended.stdout).map(({ stall }) => Number(stall ?? 0));
      judgeUnlessDelayed(runDelayOf(ended), NAMING_DELAY_MILLIS, () =>
        expect(Math.max(...stalls)).toBeGreaterThan(0.15),
      );
      expect(receiver.received).toEqual([]);
    });
  });
});

test.each([
  ['service.mjs', '--import'],
  ['service.cjs', '--import'],
  ['service.cjs', '--require'],
  ['nothing.cjs', '--import'],
])('%s, %s, console as JSON: one summary, when the process exits', async (file, flag) => {
  const { stdout, stderr } = await runApp(
    file,
    {
      file: appFile(`plain/${file}`),
      nodeArgs: [flag, ENTRY],
      env: { ...receiver.env, OTEL_INSTRUMENTATION_EVENT_LOOP_CONSOLE: 'json' },
    },
    async (app) => {
      if (file === 'nothing.cjs') return;
      const port = await app.printed('listening');
      await fetch(`http://127.0.0.1:${port}/end`);
    },
  );
  const types = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).type);
  expect(types.filter((type) => type !== 'event-loop-blocked')).toEqual(['event-loop-summary']);
  expect(types.at(-1)).toBe('event-loop-summary');
  expect(stdout).toMatch(/^(listening|nothing)/);
});

describe('in a folder of its own', () => {
  const ELSEWHERE = 'an SDK that is not the one beside this package';
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'event-loop-register-'));
    cpSync(appFile('plain/http-service.cjs'), path.join(folder, 'http-service.cjs'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** @param entry the file of this package that is preloaded */
  const runThere = (file: string, entry = require.resolve(ENTRY), env = {}) =>
    runApp(
      path.basename(file),
      {
        file,
        nodeArgs: ['--import', entry],
        cwd: folder,
        env: { ...receiver.env, OTEL_SERVICE_NAME: 'product', ...env },
      },
      async (app) => {
        await report(await warmClientOf(app, '/slow', WARM_UP_REQUESTS), app);
      },
    );
  const kindOfParent = ({ parentSpanId }: { parentSpanId?: string | undefined }) =>
    receiver.spans.find(({ spanId }) => spanId === parentSpanId)?.kind;
  const addPackage = (name: string, code: string) => {
    const own = path.join(folder, 'node_modules', name);
    mkdirSync(own, { recursive: true });
    writeFileSync(path.join(own, 'index.js'), code);
  };

  test.each([
    ['that has no package of OpenTelemetry', false],
    ['that has an api and an SDK of its own', true],
  ])('the SDK beside it is started for a product %s', async (_what, hasOwn) => {
    if (hasOwn) {
      addPackage(API, 'module.exports = {};');
      addPackage('@opentelemetry/sdk-node', `console.log('${ELSEWHERE}')`);
    }
    const ended = await runThere(path.join(folder, 'http-service.cjs'));
    const blocks = receiver.named('event-loop-blocked');
    judgeUnlessDelayed(runDelayOf(ended), NAMING_DELAY_MILLIS, () =>
      expect(blocks.map(kindOfParent)).toEqual([SERVER_KIND]),
    );
    expect(ended.stdout).not.toContain('not the one beside');
    expect([ended.stderr, ended.code]).toEqual(['', 7]);
  });

  test('without an SDK beside it, with a newer api: one line says how to mend it', async () => {
    const apart = installApart('1.99.0');
    try {
      const entry = path.join(apart, 'node_modules', NAME, 'dist', 'register.mjs');
      const { stderr, code } = await runThere(appFile('plain/http-service.cjs'), entry);
      const lines = stderr.trim().split('\n');
      expect(lines).toEqual([expect.stringContaining(`/register: two copies of ${API}: `)]);
      expect(lines[0]).toContain(`npm install ${API}@${apiVersion}`);
      expect(code).toBe(7);
    } finally {
      rmSync(apart, { recursive: true, force: true });
    }
  });

  const OLDER = '1.8.0';
  test.each([
    ['of the same version', apiVersion, []],
    ['of an older version', OLDER, [expect.stringContaining(`npm install ${API}@${OLDER}`)]],
  ])(
    'an SDK of a product with an api of its own, %s, takes precedence',
    async (_, version, said) => {
      const apart = installApart(version);
      try {
        const product = path.join(folder, 'lib/product');
        const own = path.join('node_modules', API);
        cpSync(path.join(apart, own), path.join(product, own), { recursive: true });
        for (const name of ['own-api.cjs', 'http-service.cjs'])
          cpSync(appFile(`plain/${name}`), path.join(product, name));
        // As a global command is: a link to the product.
        const command = path.join(folder, 'product');
        symlinkSync(path.join(product, 'own-api.cjs'), command);
        const ended = await runThere(command);
        expect(ended.stdout).toContain('registered: true\n');
        expect(ended.stderr.split('\n').filter((line) => line !== '')).toEqual(said);
        expect(ended.code).toBe(7);
      } finally {
        rmSync(apart, { recursive: true, force: true });
      }
    },
  );
});

describe('without an SDK', () => {
  const CONSOLE = 'OTEL_INSTRUMENTATION_EVENT_LOOP_CONSOLE';
  let folder: string;
  /** This package and the api, and nothing else. */
  let apart: string;
  beforeAll(() => {
    apart = installApart(apiVersion);
  });
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'event-loop-register-'));
    writeFileSync(path.join(folder, 'app.mjs'), "console.log('app');\n");
    cpSync(appFile('plain/http-service.cjs'), path.join(folder, 'service.cjs'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  afterAll(() => rmSync(apart, { recursive: true, force: true }));

  const HINT =
    /^opentelemetry-instrumentation-event-loop\/register: nothing is exported: .* npm install @opentelemetry\/auto-instrumentations-node(@0\.81 @opentelemetry\/api@1\.9)?$/m;

  const runApart = (
    file: string,
    env: Record<string, string>,
    drive?: (app: App) => Promise<void>,
  ) =>
    runApp(
      file,
      {
        file: path.join(folder, file),
        nodeArgs: ['--import', path.join(apart, 'node_modules', NAME, 'dist', 'register.mjs')],
        cwd: folder,
        env,
      },
      drive,
    );

  test.each([[{}], [{ [CONSOLE]: 'true' }]])(
    '%j: one line on stderr says what to install, and the application runs',
    async (env) => {
      const { stdout, stderr, code } = await runApart('app.mjs', env);
      expect(stderr).toMatch(HINT);
      expect(stderr.match(/\n/g)).toHaveLength(1);
      expect([stdout, code]).toEqual(['app\n', 0]);
    },
  );

  test('OTEL_SDK_DISABLED=true: nothing is missing', async () => {
    const { stderr, code } = await runApart('app.mjs', { OTEL_SDK_DISABLED: 'true' });
    expect([stderr, code]).toEqual(['', 0]);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s: the line, the summary and the page, then it ends by the signal',
    async (signal) => {
      const page = path.join(folder, 'page.html');
      const ended = await runApart(
        'service.cjs',
        { [CONSOLE]: 'true', OTEL_INSTRUMENTATION_EVENT_LOOP_REPORT_FILE: page },
        async (app) => {
          const get = await warmClientOf(app, '/slow', WARM_UP_REQUESTS);
          // With its name there are stack samples: from then on signals are listened for.
          while (!app.output.stderr.includes('renderReport')) await get('/report');
          app.child.kill(signal);
        },
      );
      expect(ended.stderr).toMatch(HINT);
      expect(ended.stderr).toMatch(/^event-loop-blocked: \d+ blocks?, /m);
      expect(readFileSync(page, 'utf8')).toContain('renderReport');
      expect(ended.signal).toBe(signal);
    },
  );
});

describe('without @opentelemetry/api, as yarn 1 installs it', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'event-loop-no-api-'));
    const own = path.join(folder, 'node_modules', NAME);
    const installed = path.dirname(require.resolve(`${NAME}/package.json`));
    for (const part of ['dist', 'package.json'])
      cpSync(path.join(installed, part), path.join(own, part), { recursive: true });
    const code = "setTimeout(() => { console.log('app'); process.exitCode = 3; }, 1);";
    for (const extension of ['cjs', 'mjs'])
      writeFileSync(path.join(folder, `app.${extension}`), code);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(
    ['console', 'register'].flatMap((entry) => [
      { entry, flag: '--import', app: 'app.mjs' },
      { entry, flag: '--require', app: 'app.cjs' },
    ]),
  )('/$entry by $flag: one line on stderr, and $app runs', async ({ entry, flag, app }) => {
    const { stdout, stderr, code, signal } = await runApp(app, {
      file: path.join(folder, app),
      nodeArgs: [flag, `${NAME}/${entry}`],
      cwd: folder,
    });
    expect(stderr).toBe(
      `${NAME}/${entry}: does nothing without its peer: npm install @opentelemetry/api\n`,
    );
    expect([stdout, code, signal]).toEqual(['app\n', 3, null]);
  });
});
