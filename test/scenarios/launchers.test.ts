/**
 * A process that only launches the application inherits `NODE_OPTIONS`, and so this package: the
 * application alone has the last word on stderr, the page, and the port for health checks.
 */
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { freePort } from '../../tools/harness.cjs';
import { OtlpReceiver } from '../../tools/otlp-receiver.cjs';
import { type App, type AppOptions, appFile, makeFolder, runApp } from './support/run-app.ts';
import { afterEachMeasurement, beforeEachMeasurement, test } from './support/scenario.ts';

const ROOT = path.join(__dirname, '../..');
const APPS = appFile('launched');
const OPTION = 'OTEL_INSTRUMENTATION_EVENT_LOOP_';
const entry = (name: string) => pathToFileURL(path.join(ROOT, 'dist', `${name}.mjs`)).href;
const POLL_MILLIS = 20;
/** Less than a run may take: then it is known what it waited for. */
const MAX_WAIT_MILLIS = 30_000;

let folder: string;
let port: number;
let page: string;
/** The service is stuck until there is this file. */
let end: string;
beforeEachMeasurement(async () => {
  folder = makeFolder();
  page = path.join(folder, 'report.html');
  end = path.join(folder, 'end');
  port = await freePort();
});
afterEachMeasurement(() => rmSync(folder, { recursive: true }));

interface Livez {
  status: string;
  pid: number;
}

/** Asks until an answer is the wanted one. */
async function livez(isWanted: (answer: Livez) => boolean): Promise<Livez> {
  const latest = performance.now() + MAX_WAIT_MILLIS;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && isWanted(answer)) return answer;
    if (performance.now() > latest) throw new Error(`/livez at last: ${JSON.stringify(answer)}`);
    await wait(POLL_MILLIS);
  }
}

async function ask(): Promise<Livez | undefined> {
  try {
    const signal = AbortSignal.timeout(MAX_WAIT_MILLIS);
    const response = await fetch(`http://127.0.0.1:${port}/livez`, { signal });
    return (await response.json()) as Livez;
  } catch {
    return undefined; // the port is between two processes
  }
}

const writerOfPage = () => Number(/"process":\{"pid":(\d+)/.exec(readFileSync(page, 'utf8'))?.[1]);

const throughLauncher = (way: string): AppOptions => ({
  file: path.join(APPS, 'launcher.cjs'),
  args: [way, end],
});
const throughNpm = (): AppOptions => ({
  node: 'npm',
  withoutBackground: 'npm takes no options of Node.js',
  nodeArgs: ['--prefix', APPS, '--silent', 'start', '--'],
  file: path.join(APPS, 'server.cjs'),
  args: [end],
});

const run = (options: AppOptions, name: string, more: object, drive: (app: App) => Promise<void>) =>
  runApp(
    'launched',
    {
      ...options,
      cwd: ROOT,
      env: {
        NODE_OPTIONS: `--import ${entry(name)}`,
        [`${OPTION}HEALTH_PORT`]: String(port),
        [`${OPTION}HEALTH_FAIL_AFTER_MILLIS`]: '1000',
        [`${OPTION}REPORT_FILE`]: page,
        ...more,
      },
    },
    drive,
  );

/** The run of a service that ends while it is driven. */
function isMeantToEnd(error: Error): { stderr: string } {
  const [story = '', stderr = ''] = error.message.split('--- standard error\n');
  if (!story.includes('ended (code 0, signal null)')) throw error;
  return { stderr: stderr.split('\n--- record')[0] ?? '' };
}

test.each(['inherits stdio', 'fork', 'cluster', 'npm start'])(
  '%s: the application alone is watched',
  async (way) => {
    const options = way === 'npm start' ? throughNpm() : throughLauncher(way);
    let pid = 0;
    const ended = await run(options, 'console', {}, async (app) => {
      const [at, id] = (await app.printed('serving ')).split(' ');
      pid = Number(id);
      await livez((answer) => answer.pid === pid && answer.status === 'ok');
      void fetch(`http://127.0.0.1:${at}/stick`);
      await livez((answer) => answer.pid === pid && answer.status === 'stuck');
      writeFileSync(end, '');
      await livez((answer) => answer.status === 'ok');
      await fetch(`http://127.0.0.1:${at}/end`);
      await once(app.child, 'exit');
    }).catch(isMeantToEnd);
    expect(ended.stderr.match(/^event-loop-blocked: .*/gm)).toEqual([
      expect.stringMatching(/^event-loop-blocked: \d+ blocks?, /),
    ]);
    expect(writerOfPage()).toBe(pid);
  },
);

test.each(['a server with a helper', 'a client with a helper'])(
  '%s is the application: it keeps the port, writes the page and has the last word',
  async (way) => {
    const options = throughLauncher(way);
    let pid = 0;
    const ended = await run(options, 'console', {}, async (app) => {
      pid = Number(await app.printed('helped '));
      for (let i = 0; i < 20; i++) expect((await livez(() => true)).pid).toBe(pid);
    });
    expect(ended.code).toBe(0);
    expect(ended.stderr).toMatch(/^event-loop-blocked: no block of /m);
    expect(writerOfPage()).toBe(pid);
  },
);

test('under /register, the lag of the launcher does not mix with that of the application', async () => {
  const receiver = await OtlpReceiver.listen();
  const more = { ...receiver.env, OTEL_METRIC_EXPORT_INTERVAL: '200' };
  const samplesOf = (pid: number | undefined) => {
    const values = receiver.metrics.filter(
      ({ name, resource }) => name === 'event_loop.lag' && resource['process.pid'] === pid,
    );
    return values.map(({ histogram }) => Number(histogram.dataPoints[0].count));
  };
  const ofLauncher: number[] = [];
  const ofService: number[] = [];
  try {
    await run(throughLauncher('inherits stdio'), 'register', more, async (app) => {
      const [at, id] = (await app.printed('serving ')).split(' ');
      await livez(({ pid }) => pid === Number(id));
      for (let i = 0; i < 2; i++) {
        await wait(1500);
        ofLauncher.push(samplesOf(app.child.pid).at(-1) ?? Number.NaN);
        ofService.push(samplesOf(Number(id)).at(-1) ?? Number.NaN);
      }
      await fetch(`http://127.0.0.1:${at}/end`);
      await once(app.child, 'exit');
    }).catch(isMeantToEnd);
  } finally {
    await receiver.close();
  }
  expect(ofLauncher[1]).toBe(ofLauncher[0]);
  expect(ofService[1]).toBeGreaterThan(ofService[0] ?? Number.NaN);
});
