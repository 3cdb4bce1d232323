/** The command `opentelemetry-instrumentation-event-loop`, as a user runs it. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { OtlpReceiver } from '../../tools/otlp-receiver.cjs';
import { type App, appFile, makeFolder, runApp, warmClientOf } from './support/run-app.ts';
import { afterEachMeasurement, beforeEachMeasurement, test } from './support/scenario.ts';

const NAME = 'opentelemetry-instrumentation-event-loop';
const MANIFEST = require.resolve(`${NAME}/package.json`);
const COMMAND = path.join(path.dirname(MANIFEST), require(MANIFEST).bin[NAME]);
const POLL_MILLIS = 20;

let folder: string;
let page: string;
beforeEachMeasurement(() => {
  folder = makeFolder();
  page = path.join(folder, 'a page.html');
  cpSync(appFile('plain/http-service.cjs'), path.join(folder, 'app.cjs'));
  const scripts = { start: 'node app.cjs' };
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ scripts }));
});
afterEachMeasurement(() => rmSync(folder, { recursive: true }));

/** Runs the command; by default the application is asked for a block, and to end. */
const run = (args: string[], drive: (app: App) => Promise<unknown> = blockAndEnd, env = {}) =>
  runApp(
    'cli',
    {
      file: COMMAND,
      args,
      cwd: folder,
      env,
      withoutBackground: 'the command is no application',
    },
    async (app) => void (await drive(app)),
  );

const block = async (app: App) => {
  const get = await warmClientOf(app, '/slow', 3);
  // Named: from then on signals are listened for.
  while (!app.output.stderr.includes('renderReport')) await get('/report');
  return get;
};
const blockAndEnd = async (app: App) => (await block(app))('/end');

const SUMMARY = /^event-loop-blocked: (?:\d+ blocks?|no block)/gm;
const pageLine = () => `report page: ${pathToFileURL(page).href}\n`;

test('it runs an application, says where the page is, and ends as the application does', async () => {
  const ended = await run([`--page=${page}`, '--threshold=60', 'app.cjs', '--threshold=9']);
  expect(ended.stderr).toMatch(/^event-loop-blocked \d+ ms callback: renderReport /m);
  expect(ended.stderr.match(SUMMARY)).toHaveLength(1);
  expect(ended.stderr.endsWith(pageLine())).toBe(true);
  expect(readFileSync(page, 'utf8')).toContain('"thresholdMillis":60');
  expect([ended.code, ended.signal]).toEqual([7, null]);
});

test('SIGURG: the page is written, and said, while the application runs', async () => {
  let said = '';
  const ended = await run([`--page=${page}`, 'app.cjs'], async (app) => {
    const get = await block(app);
    app.child.stderr?.on('data', (chunk) => {
      said += chunk;
    });
    app.child.kill('SIGURG');
    while (!said.includes(pageLine())) await new Promise((done) => setTimeout(done, POLL_MILLIS));
    expect(readFileSync(page, 'utf8')).toContain('renderReport');
    await get('/end');
  });
  expect(ended.code).toBe(7);
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends both, with summary and page', async (signal) => {
  const ended = await run([`--page=${page}`, 'app.cjs'], async (app) => {
    await block(app);
    app.child.kill(signal);
  });
  expect(ended.stderr.match(SUMMARY)).toHaveLength(1);
  expect(ended.stderr.endsWith(pageLine())).toBe(true);
  expect(ended.signal).toBe(signal);
});

test.each([
  ['node', '--no-warnings', 'app.cjs'],
  ['npm', 'start'],
])('-- %s %s: the application is watched, and nothing else', async (...command) => {
  const ended = await run([`--page=${page}`, '--threshold=5', '--', ...command]);
  expect(ended.stderr).toMatch(/ renderReport \(app\.cjs:/);
  expect(ended.stderr.match(SUMMARY)).toHaveLength(1);
  expect(ended.stderr).not.toMatch(/npm[-/]/);
  expect(ended.stderr).toContain(pageLine());
  expect(ended.code).toBe(7);
});

test('--register: the block is a span', async () => {
  const receiver = await OtlpReceiver.listen();
  try {
    const ended = await run(['--register', 'app.cjs'], blockAndEnd, receiver.env);
    const blocks = receiver.named('event-loop-blocked').map(({ attributes }) => attributes);
    expect(blocks.at(-1)).toMatchObject({ 'code.function.name': 'renderReport' });
    expect(ended.stderr.match(SUMMARY)).toHaveLength(1);
    expect(ended.code).toBe(7);
  } finally {
    receiver.close();
  }
});

test.each([
  [[], 2, /^Usage: /],
  [['--pages', 'app.cjs'], 2, /^Usage: /],
  [['--', 'no-such-command'], 127, /no-such-command/],
])('%j: says what is wrong, and fails', async (args, code, said) => {
  const ended = await run(args, async () => {});
  expect(ended.stderr).toMatch(said);
  expect([ended.stdout, ended.code]).toEqual(['', code]);
});
