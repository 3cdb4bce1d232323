/** A health check that is answered while the event loop is blocked: right in every state. */
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage } from 'node:http';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../../tools/harness.cjs';
import { DebuggerClient } from './support/debugger-client.ts';
import { expectQuietExit } from './support/expect-blocks.ts';
import { quotaGroup } from './support/quota-group.ts';
import { type App, appFile, makeFolder, type Run, runApp } from './support/run-app.ts';
import { afterEachMeasurement, beforeEachMeasurement, test } from './support/scenario.ts';
import { judgeUnlessDelayed, runDelayOf, TICK_MILLIS } from './support/validity.ts';

const FAIL_AFTER_MILLIS = 1000;
const POLL_MILLIS = 20;
/** What the machine may take of a run. */
const DELAY_MILLIS = 50;
/** A stop is noticed except for one sleep of the watchdog thread. */
const WATCHDOG_SLEEP_MILLIS = 50;

interface Answer {
  statusCode: number;
  body: {
    status?: 'ok' | 'blocked' | 'stuck';
    pid?: number;
    blockedMillis?: number;
    lagMillis?: number;
  };
}

let folder: string;
let port: number;
/** What blocks ends when there is this file. */
let end: string;

beforeEachMeasurement(async () => {
  folder = makeFolder();
  end = path.join(folder, 'end');
  port = await freePort();
});
afterEachMeasurement(() => rmSync(folder, { recursive: true }));

/** Undefined if nobody listens. */
async function probe(at = port, host = '127.0.0.1'): Promise<Answer | undefined> {
  const request = get({ port: at, host, path: '/livez', agent: false });
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response) text += chunk;
    return { statusCode: response.statusCode ?? 0, body: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Asks again and again. `seen` gets all answers. */
async function until(
  isWanted: (answer: Answer | undefined) => boolean,
  seen: Answer[] = [],
  at = port,
): Promise<Answer | undefined> {
  for (;;) {
    const answer = await probe(at);
    if (answer !== undefined) seen.push(answer);
    if (isWanted(answer)) return answer;
    await wait(POLL_MILLIS);
  }
}
const isStatus = (status: string) => (answer: Answer | undefined) => answer?.body.status === status;

const send = (app: App, what: string) => app.child.stdin?.write(`${what}|${end}\n`);
const release = () => writeFileSync(end, '');
const args = (more: string[] = [], limit = FAIL_AFTER_MILLIS) => [
  String(port),
  String(limit),
  ...more,
];

/** 503 if and only if it is stuck, and stuck only from the limit on. */
function expectRight(answers: readonly Answer[]): void {
  for (const { statusCode, body } of answers) {
    const { status, blockedMillis = Number.NaN } = body;
    expect({ status, statusCode }).toEqual({ status, statusCode: status === 'stuck' ? 503 : 200 });
    if (status === 'ok') expect(blockedMillis).toBe(0);
    if (status === 'blocked') expect(blockedMillis).toBeLessThan(FAIL_AFTER_MILLIS);
    if (status === 'stuck') expect(blockedMillis).toBeGreaterThanOrEqual(FAIL_AFTER_MILLIS);
  }
}

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);
/** Each with an address of loopback by which the default is not reached. */
const HOSTS: [string, string][] = [];
if (process.platform === 'linux') HOSTS.push(['0.0.0.0', '127.0.0.2']);
if (hasIpv6) HOSTS.push(['::', '::1']);

test.each(HOSTS)('HEALTH_HOST %s is reached by %s', async (host, address) => {
  const env = { OTEL_INSTRUMENTATION_EVENT_LOOP_HEALTH_HOST: host };
  const run = await runApp('health-server.cjs', { args: args(), env }, async (app) => {
    await app.printed('ready');
    await until(isStatus('ok'));
    expect((await probe(port, address))?.body.status).toBe('ok');
  });

  expectQuietExit(run);
});

test('starting, idle, blocked, stuck, idle again, and the same for a call that waits', async () => {
  const seen: Answer[] = [];
  const start = path.join(folder, 'start');
  let blocked: Answer | undefined;
  let stuck: Answer | undefined;
  let traceId = '';
  const run = await runApp('health-server.cjs', { args: args([start]) }, async (app) => {
    await until(isStatus('blocked'), seen); // the main script has not ended
    await until(isStatus('stuck'), seen);
    writeFileSync(start, '');
    await until(isStatus('ok'), seen);
    await app.printed('ready');
    for (let i = 0; i < 20; i++) seen.push((await probe()) as Answer);
    expect(seen.slice(-20).map(({ body }) => body.status)).toEqual(Array(20).fill('ok'));
    send(app, 'spin');
    traceId = await app.printed('spin');
    blocked = await until(isStatus('blocked'), seen);
    stuck = await until(isStatus('stuck'), seen);
    release();
    await until(isStatus('ok'), seen);
    rmSync(end);
    send(app, 'waitInShell');
    await until(isStatus('blocked'), seen);
    await until(isStatus('stuck'), seen);
    release();
    await until(isStatus('ok'), seen);
  });

  expectQuietExit(run);
  expectRight(seen);
  // What reaches the port learns nothing about the application's code or its requests.
  const fields = ['status', 'pid', 'blockedMillis', 'lagMillis'];
  for (const answer of [blocked, stuck]) expect(Object.keys(answer?.body ?? {})).toEqual(fields);
  expect(stuck?.body.lagMillis).toBeGreaterThan(0);
  // As spans have it, the block is longer than what was said of it last.
  const reported = run.blocks.find((block) => block.traceId === traceId);
  expect(reported?.durationMillis).toBeGreaterThan(stuck?.body.blockedMillis ?? Number.NaN);
});

test('a block that is maxBlockedMillis old is stuck, whatever failAfterMillis says', async () => {
  const env = { OTEL_INSTRUMENTATION_EVENT_LOOP_HEALTH_MAX_BLOCKED_MILLIS: '1500' };
  const run = await runApp('health-server.cjs', { args: args([], 3_600_000), env }, async (app) => {
    await app.printed('ready');
    await until(isStatus('ok'));
    send(app, 'spin');
    const stuck = await until(isStatus('stuck'));
    expect(stuck?.statusCode).toBe(503);
    expect(stuck?.body.blockedMillis).toBeGreaterThanOrEqual(1500);
    release();
    await until(isStatus('ok'));
  });
  expectQuietExit(run);
});

/** Asked while it is stopped, it answers as soon as it runs again. */
async function askedWhileStopped({ child }: App, stopMillis: number): Promise<Answer> {
  child.kill('SIGSTOP');
  const answer = probe();
  await wait(stopMillis);
  child.kill('SIGCONT');
  return (await answer) as Answer;
}

test('a process that was stopped while it idles is ok as soon as it runs again', async () => {
  const answers: Answer[] = [];
  const run = await runApp('health-server.cjs', { args: args() }, async (app) => {
    await app.printed('ready');
    await until(isStatus('ok'));
    await wait(500); // so that it idles
    for (let i = 0; i < 3; i++) answers.push(await askedWhileStopped(app, 1.5 * FAIL_AFTER_MILLIS));
  });

  expectQuietExit(run);
  expect(answers.map(({ body }) => body.status)).toEqual(['ok', 'ok', 'ok']);
});

test('a process that was stopped in a block: that time does not count', async () => {
  const limit = 3000;
  const stopped = 3500;
  let before: Answer | undefined;
  let answer: Answer | undefined;
  let least = 0;
  const run = await runApp('health-server.cjs', { args: args([], limit) }, async (app) => {
    await app.printed('ready');
    await until(isStatus('ok'));
    send(app, 'spin');
    before = await until(isStatus('blocked'));
    const asked = performance.now();
    answer = await askedWhileStopped(app, stopped);
    least = performance.now() - asked - stopped;
    release();
    await until(isStatus('ok'));
  });

  expectQuietExit(run);
  expect([before?.body.status, answer?.body.status]).toEqual(['blocked', 'blocked']);
  const grown = (answer?.body.blockedMillis ?? 0) - (before?.body.blockedMillis ?? 0);
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
    expect(grown).toBeLessThan(least + WATCHDOG_SLEEP_MILLIS + DELAY_MILLIS),
  );
});

describe('paused in a debugger', () => {
  /**
   * @param opens the action of the app that opens the debugger
   * @param pauses the one that pauses, if that does not
   */
  async function pausedIn(opens: string, pauses?: string): Promise<Answer[]> {
    const seen: Answer[] = [];
    const run = await runApp('health-server.cjs', { args: args() }, async (app) => {
      await app.printed('ready');
      send(app, opens);
      const client = await DebuggerClient.attach(await app.printed('debugger '));
      const paused = client.event('Debugger.paused');
      await client.call('Debugger.enable');
      if (pauses === undefined) release();
      else {
        // To list all scripts takes CPU time. A beat comes after that.
        const expression = 'new Promise((done) => setTimeout(done, 100))';
        await client.call('Runtime.evaluate', { expression, awaitPromise: true });
        await until(isStatus('ok'));
        send(app, pauses);
      }
      await paused;
      for (let since = performance.now(); performance.now() - since < 1.5 * FAIL_AFTER_MILLIS; ) {
        seen.push((await probe()) as Answer);
        await wait(POLL_MILLIS);
      }
      await client.call('Debugger.resume');
      await client.detach();
    });
    expect(run.code).toBe(0);
    return seen;
  }

  test('it is ok', async () => {
    const seen = await pausedIn('open debugger', 'pause');
    expect(new Set(seen.map(({ body }) => body.status))).toEqual(new Set(['ok']));
  });

  test('that no beat has seen before, it is not stuck', async () => {
    const seen = await pausedIn('open debugger and pause');
    expect(seen.map(({ body }) => body.status)).not.toContain('stuck');
    expect(seen.at(-1)?.body.status).toBe('ok');
  });
});

test('a process that exits, and takes long, is blocked; then nobody listens', async () => {
  const seen: Answer[] = [];
  const run = await runApp('health-server.cjs', { args: args() }, async (app) => {
    await app.printed('ready');
    await until(isStatus('ok'));
    send(app, 'exit');
    await until(isStatus('stuck'), seen);
    const gone = once(app.child, 'exit');
    release();
    await gone;
    expect(await probe()).toBeUndefined();
  }).catch((error: Error) => {
    // It is meant to end.
    if (!/ended \(code 0, signal null\)/.test(error.message)) throw error;
  });
  expect(run).toBeUndefined();
  expectRight(seen);
});

test('of two instances the active one has the port', async () => {
  const isOld = (answer?: Answer) => Number(answer?.body.blockedMillis) >= FAIL_AFTER_MILLIS;
  /** At the age at which it is stuck for the first instance, and not for the other. */
  const statusOfBlock = async () => {
    send({ child } as App, 'spin');
    const answer = await until(isOld);
    release();
    await until(isStatus('ok'));
    rmSync(end);
    return answer?.body.status;
  };
  let child = undefined as unknown as App['child'];
  const statuses: unknown[] = [];
  await runApp('health-server.cjs', { args: args() }, async (app) => {
    ({ child } = app);
    await app.printed('ready');
    await until(isStatus('ok'));
    statuses.push(await statusOfBlock());
    send(app, 'enable another');
    await app.printed('enable another');
    await wait(200);
    statuses.push(await statusOfBlock());
    send(app, 'disable the other');
    await app.printed('disable the other');
    await wait(200);
    statuses.push(await statusOfBlock());
  });
  expect(statuses).toEqual(['stuck', 'blocked', 'stuck']);
});

/** A port in use is said after 3 s. */
const SAID_MILLIS = 3500;
const diagsOf = (run: Run) => run.diags.map(({ message }) => message);

test('a port that another program has: one line, and it is taken as soon as it is free', async () => {
  const other = createServer((_request, response) => response.destroy()).listen(port, '127.0.0.1');
  await once(other, 'listening');
  const run = await runApp('health-server.cjs', { args: args() }, async (app) => {
    await app.printed('ready true');
    await wait(SAID_MILLIS);
    await new Promise((resolve) => other.close(resolve));
    expect((await until(isStatus('ok')))?.body.pid).toBe(app.child.pid);
  });

  expect([run.code, run.stderr]).toEqual([0, '']);
  expect(diagsOf(run)).toEqual([
    expect.stringContaining(
      'healthServer tries again every second: ' +
        `listen EADDRINUSE: address already in use 127.0.0.1:${port}`,
    ),
  ]);
});

test('a host that is not one: one line, and the service starts as without', async () => {
  const env = { OTEL_INSTRUMENTATION_EVENT_LOOP_HEALTH_HOST: '192.0.2.1' }; // for documentation
  const run = await runApp('health-server.cjs', { args: args(), env }, async (app) => {
    await app.printed('ready true');
    await wait(500);
  });

  expect(run.code).toBe(0);
  expect(diagsOf(run)).toEqual([
    expect.stringContaining('healthServer is off: listen EADDRNOTAVAIL'),
  ]);
});

test('without the permission for threads: one line, and the service starts as without', async () => {
  const major = Number(process.versions.node.split('.')[0]);
  const nodeArgs = [
    major < 22 ? '--experimental-permission' : '--permission',
    '--allow-fs-read=*',
    '--allow-fs-write=*',
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=SecurityWarning',
  ];
  const run = await runApp('health-server.cjs', { args: args(), nodeArgs }, async (app) => {
    await app.printed('ready true');
    expect(await probe()).toBeUndefined();
  });

  expect(run.code).toBe(0);
  expect(diagsOf(run).filter((message) => message.includes('healthServer'))).toEqual([
    expect.stringContaining('healthServer is off: Access to this API has been restricted'),
  ]);
});

test('in a cluster, a process listens on the port that it is given', async () => {
  const workerPort = await freePort();
  const more = ['', String(workerPort)];
  const run = await runApp('health-server.cjs', { args: args(more) }, async (app) => {
    await app.printed('ready');
    await until(isStatus('ok'));
    await until(isStatus('ok'), [], workerPort);
    send(app, 'spin');
    await until(isStatus('stuck'));
    expect((await probe(workerPort))?.body.status).toBe('ok');
    release();
    await until(isStatus('ok'));
    await wait(SAID_MILLIS); // the other worker
  });

  expect([run.code, run.stderr]).toEqual([0, '']);
  const [first, ...others] = run.diags.filter(({ message }) => message.includes('healthServer'));
  expect(first?.message).toContain(`EADDRINUSE: address already in use 127.0.0.1:${port}`);
  expect(others).toEqual([]);
});

const OPTION = 'OTEL_INSTRUMENTATION_EVENT_LOOP_HEALTH_';
const ROOT = path.join(__dirname, '../..');

test.each(['register', 'console'])('by the environment, under /%s', async (entry) => {
  const options = {
    file: appFile('plain/service.cjs'),
    nodeArgs: ['--import', `opentelemetry-instrumentation-event-loop/${entry}`],
    cwd: ROOT,
    env: {
      [`${OPTION}PORT`]: String(port),
      OTEL_TRACES_EXPORTER: 'none',
      OTEL_METRICS_EXPORTER: 'none',
    },
  };
  const answers: (Answer | undefined)[] = [];
  const run = await runApp('service.cjs', options, async (app) => {
    await app.printed('listening ');
    answers.push(await until(isStatus('ok')));
    app.child.kill('SIGKILL');
  });
  expect(run.signal).toBe('SIGKILL');
  expect(answers[0]?.statusCode).toBe(200);
});

test('worker threads have none: `/livez` tells about the main thread', async () => {
  const workerPort = await freePort();
  const env = { WORKER_PORT: String(workerPort) };
  const run = await runApp('health-server.cjs', { args: args(), env }, async (app) => {
    await app.printed('ready');
    await until(isStatus('ok'));
    send(app, 'startWorker');
    await app.printed('worker is ready');
    expect(await probe(workerPort)).toBeUndefined();
    expect((await probe())?.body.status).toBe('ok');
  });
  expect(run.code).toBe(0);
  expect(diagsOf(run)).toEqual([]);
});

/** How long the main thread of a process has run, in milliseconds. */
const ranOf = (pid?: number) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;

const group = process.platform === 'linux' ? quotaGroup() : undefined;
group?.drop();
if (group === undefined) {
  globalThis.test.skip('out of its CPU quota: no control group can be made here', () => {});
} else {
  test('out of its CPU quota: time without a CPU does not count', async () => {
    const half = quotaGroup();
    let ranUntilFailed: number | undefined;
    const began = { at: 0, ran: 0 };
    let took = 0;
    const answers: Answer[] = [];
    const options = { ...half?.options, args: args() };
    try {
      const run = await runApp('health-server.cjs', options, async (app) => {
        await app.printed('ready');
        await until(isStatus('ok'));
        Object.assign(began, { at: performance.now(), ran: ranOf(app.child.pid) });
        send(app, 'spin');
        await until((answer) => {
          const ran = ranOf(app.child.pid) - began.ran;
          if (answer?.statusCode === 503) ranUntilFailed ??= ran;
          return answer?.body.status === 'stuck';
        }, answers);
        took = performance.now() - began.at;
        release();
        await until(isStatus('ok'));
      });
      expect(run.code).toBe(0);
      // It counts from the last beat, which is before our first reading; each may be a tick behind.
      expect(ranUntilFailed).toBeGreaterThan(FAIL_AFTER_MILLIS - 3 * TICK_MILLIS);
      // Half of a CPU.
      expect(took).toBeGreaterThan(1.5 * FAIL_AFTER_MILLIS);
      const ages = answers.map(({ body }) => body.blockedMillis ?? 0);
      expect(ages).toEqual([...ages].sort((a, b) => a - b));
    } finally {
      half?.drop();
    }
  });
}
