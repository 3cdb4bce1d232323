/**
 * `/register` with `OTEL_CONFIG_FILE`: the SDK is started from the file.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { OtlpReceiver } from '../../tools/otlp-receiver.cjs';
import { appFile, runApp, warmClientOf } from './support/run-app.ts';
import { afterEachMeasurement, beforeEachMeasurement, test } from './support/scenario.ts';
import { judgeUnlessDelayed, runDelayOf } from './support/validity.ts';

const ENTRY = 'opentelemetry-instrumentation-event-loop/register';
const FILE = appFile('plain/otel.yaml');
const SERVER_KIND = 2;
/** What the machine may take without keeping the watchdog thread from the block of 250 ms. */
const NAMING_DELAY_MILLIS = 100;

let receiver: OtlpReceiver;
beforeEachMeasurement(async () => {
  receiver = await OtlpReceiver.listen();
});
afterEachMeasurement(() => receiver.close());

const start = (file: string, env: Record<string, string>) => ({
  file: appFile(`plain/${file}`),
  nodeArgs: ['--import', ENTRY],
  env: { ...receiver.env, OTEL_CONFIG_FILE: FILE, OTEL_SERVICE_NAME: 'of-the-environment', ...env },
});

test('block, event, metrics and stalled span arrive by the providers of the file', async () => {
  const ended = await runApp(
    'service.cjs',
    start('service.cjs', {
      OTEL_INSTRUMENTATION_EVENT_LOOP_THRESHOLD_MILLIS: '60',
      OTEL_INSTRUMENTATION_EVENT_LOOP_BLOCK_EVENTS: 'all',
    }),
    async (app) => {
      const get = await warmClientOf(app, '/slow');
      await Promise.all([get('/slow'), get('/report')]);
      await get('/end');
    },
  );
  expect(ended).toMatchObject({ code: 7, stderr: '' });
  const [block, ...more] = receiver
    .named('event-loop-blocked')
    .filter(({ attributes }) => attributes['code.function.name'] === 'renderReport');
  judgeUnlessDelayed(runDelayOf(ended), NAMING_DELAY_MILLIS, () => expect(block).toBeDefined());
  expect(more).toEqual([]);
  const request = receiver.spans.find(
    ({ kind, attributes }) =>
      kind === SERVER_KIND && (attributes['url.path'] ?? attributes['http.target']) === '/report',
  );
  expect(block).toMatchObject({
    traceId: request?.traceId,
    parentSpanId: request?.spanId,
    resource: { 'service.name': 'of-the-file' },
  });
  // `BLOCK_EVENTS=all`: those that have a span, too.
  expect(receiver.logs.map(({ spanId }) => spanId)).toContain(request?.spanId);
  expect(receiver.metricNames).toContain('event_loop.lag');
  expect(receiver.metricNames).toContain('event_loop.block.duration');
  const stalls = receiver.spans.map(({ attributes }) => attributes['event_loop.stall.duration']);
  judgeUnlessDelayed(runDelayOf(ended), NAMING_DELAY_MILLIS, () =>
    expect(Math.max(...stalls.map(Number).filter(Number.isFinite))).toBeGreaterThan(0.15),
  );
});

const runNothing = (env: Record<string, string>) =>
  runApp('nothing.cjs', start('nothing.cjs', env));

test('disabled: there is no SDK, and nothing is missing', async () => {
  const { stdout, stderr, code } = await runNothing({ DISABLED: 'true' });
  expect({ stdout, stderr, code }).toEqual({ stdout: 'nothing\n', stderr: '', code: 0 });
  expect(receiver.received).toEqual([]);
});

test('a file that is not there: the SDK says so in one line, and the application runs', async () => {
  const { stdout, stderr, code } = await runNothing({ OTEL_CONFIG_FILE: '/no/such/otel.yaml' });
  expect(stderr).toMatch(/^.*configuration.*\/no\/such\/otel\.yaml.*\n$/);
  expect({ stdout, code }).toEqual({ stdout: 'nothing\n', code: 0 });
});

describe('an SDK that cannot read it', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'event-loop-register-'));
    const sdk = path.join(folder, 'node_modules', '@opentelemetry', 'sdk-node');
    mkdirSync(sdk, { recursive: true });
    writeFileSync(
      path.join(sdk, 'index.js'),
      'exports.NodeSDK = class { start() {} async shutdown() {} };\n',
    );
    writeFileSync(path.join(folder, 'app.cjs'), "console.log('nothing');\n");
    // The same api as this package: then the application's SDK is used.
    const api = path.join(__dirname, '../../node_modules/@opentelemetry/api');
    symlinkSync(api, path.join(folder, 'node_modules', '@opentelemetry', 'api'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('one line on stderr says so, and the environment counts', async () => {
    const { stdout, stderr, code } = await runApp('app.cjs', {
      file: path.join(folder, 'app.cjs'),
      nodeArgs: ['--import', require.resolve(ENTRY)],
      cwd: folder,
      env: { OTEL_CONFIG_FILE: FILE },
    });
    expect(stderr).toBe(
      'opentelemetry-instrumentation-event-loop/register: OTEL_CONFIG_FILE is ignored: ' +
        'this @opentelemetry/sdk-node has no startNodeSdk(), which reads it\n',
    );
    expect({ stdout, code }).toEqual({ stdout: 'nothing\n', code: 0 });
  });
});
