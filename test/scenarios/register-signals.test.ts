/**
 * Under `/register`, each program ends by a signal as it does without: same code, same signal, same
 * output.
 */
import { spawnSync } from 'node:child_process';
import { on } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { OtlpReceiver } from '../../tools/otlp-receiver.cjs';
import { type App, appFile, runApp } from './support/run-app.ts';
import { afterEachMeasurement, beforeEachMeasurement, test } from './support/scenario.ts';
import { judgeUnlessDelayed, runDelayOf } from './support/validity.ts';

const ENTRY = 'opentelemetry-instrumentation-event-loop/register';
/** How long the process waits at most for a collector when a signal ends it. */
const MAX_WAIT_MILLIS = 1000;
/** And if its event loop does not turn meanwhile. */
const MAX_FLUSH_MILLIS = 5000;
/** A flush that is answered, and a busy machine: far less than what a flush may take. */
const ANSWERED_MILLIS = 3000;
const BUSY_MACHINE_MILLIS = 2500;
/** The part of it that the machine may take. */
const DELAY_MILLIS = 500;

interface End {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

type Drive = (app: App) => Promise<void>;
const once =
  (signal: NodeJS.Signals): Drive =>
  async (app) => {
    app.child.kill(signal);
  };

/** Waits for a part of what is printed. */
async function streamOf(stream: Readable | null, part: string): Promise<void> {
  for await (const [text] of on(stream as Readable, 'data')) if (text.includes(part)) return;
}

/** Runs one way to end; `millis` is from the signal on. */
async function run(
  way: string,
  env: Record<string, string> | undefined,
  drive: Drive,
  inContainer = false,
) {
  let signalledAt = 0;
  const ended = await runApp(
    'service.cjs',
    {
      file: appFile('signals/service.cjs'),
      args: [way],
      ...(inContainer && { node: UNSHARE }),
      nodeArgs: [
        ...(inContainer ? [...CONTAINER, process.execPath] : []),
        ...(env === undefined ? [] : ['--require', ENTRY]),
      ],
      ...(env !== undefined && { env }),
    },
    async (app) => {
      await app.printed('listening');
      signalledAt = performance.now();
      await drive(app);
    },
  );
  const { code, signal, stderr } = ended;
  const stdout = ended.stdout.replace(/^listening .*\n/m, '');
  return {
    end: { code, signal, stdout, stderr } as End,
    millis: performance.now() - signalledAt,
    delayMillis: runDelayOf(ended),
  };
}

async function expectSame(
  way: string,
  env: Record<string, string>,
  maxMillis: number,
  drive: Drive,
  expectMore = () => {},
) {
  const [without, under] = await Promise.all([run(way, undefined, drive), run(way, env, drive)]);
  expect({ way, ...under.end }).toEqual({ way, ...without.end });
  judgeUnlessDelayed(under.delayMillis, DELAY_MILLIS, () =>
    expect(under.millis - without.millis).toBeLessThan(maxMillis),
  );
  judgeUnlessDelayed(under.delayMillis, DELAY_MILLIS, expectMore);
}

/** Starts a program as process 1 of a namespace, and ends with its exit code. */
const UNSHARE = 'unshare';
const CONTAINER = ['--pid', '--fork', '--mount-proc', '--kill-child'];

/** These end by the signal. */
const KILLED = [
  'no listener',
  'signal-exit 3',
  'signal-exit 4',
  'terminus',
  'once, then the signal again',
];
const WAYS = [
  'signal-exit 3 and 4',
  'signal-exit 4 that keeps the process',
  'signal-exit 4 beside a listener',
  'signal-exit 4, loaded when requests come',
  'async-exit-hook',
  'death',
  'close-with-grace',
  'terminus, useExit0',
  'stoppable',
  'fastify',
  'a listener that closes the server',
  'a listener put first, that counts',
  'a listener that comes and goes',
  'listeners that are taken away and put back',
  'as many listeners as there may be',
  'a hidden listener that counts the others',
  'an event without a signal',
  'a worker thread',
];

let receiver: OtlpReceiver;
beforeEachMeasurement(async () => {
  receiver = await OtlpReceiver.listen();
});
afterEachMeasurement(() => receiver.close());

describe('a collector that answers', () => {
  test.each(KILLED)('%s: what is left is sent before it ends by the signal', async (way) => {
    // Until the watchdog thread has started, a signal ends the process at once.
    await expectSame(way, receiver.env, ANSWERED_MILLIS, once('SIGTERM'), () =>
      expect(receiver.metricNames).toContain('event_loop.lag'),
    );
  });

  test('SIGTERM ends a process whose event loop does not turn again', async () => {
    const env = {
      ...receiver.env,
      OTEL_INSTRUMENTATION_EVENT_LOOP_UNFINISHED_AFTER_MILLIS: '1500',
    };
    const { end } = await run('never turns again', env, async ({ child }) => {
      await streamOf(child.stderr, 'not ended');
      child.kill('SIGTERM');
    });
    expect(end).toMatchObject({ code: null, signal: 'SIGTERM' });
  });

  test.each(WAYS)('SIGTERM, %s', (way) =>
    expectSame(way, receiver.env, ANSWERED_MILLIS, once('SIGTERM')),
  );

  test.each<[NodeJS.Signals, string]>([
    ['SIGINT', 'no listener'],
    ['SIGINT', 'signal-exit 3 and 4'],
    ['SIGINT', 'fastify'],
    ['SIGHUP', 'no listener'],
    ['SIGHUP', 'signal-exit 4'],
    ['SIGHUP', 'close-with-grace'],
  ])('%s, %s', (signal, way) => expectSame(way, receiver.env, ANSWERED_MILLIS, once(signal)));

  test('a signal that a process sends itself as its last act ends it', () =>
    expectSame(
      'the last thing it does is to send itself the signal',
      receiver.env,
      ANSWERED_MILLIS,
      async () => {},
    ));

  test('a listener that does nothing but log keeps the process, and is called once', () =>
    expectSame('a listener that logs, and counts', receiver.env, ANSWERED_MILLIS, async (app) => {
      app.child.kill('SIGTERM');
      await app.printed('got SIGTERM, 1');
      app.child.kill('SIGKILL');
    }));

  test('the second signal ends a process whose listener was for one', () =>
    expectSame('once, and never ends', receiver.env, ANSWERED_MILLIS, async (app) => {
      app.child.kill('SIGTERM');
      await app.printed('got SIGTERM');
      app.child.kill('SIGTERM');
    }));
});

describe('a collector that does not answer', () => {
  let silent: Server;
  beforeAll(async () => {
    silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    silent.close();
    silent.closeAllConnections();
  });
  const env = (more: Record<string, string> = {}) => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    ...more,
  });

  // Side by side: all of them wait.
  test('one that the signal ends waits for 1 s; one that ends by itself for one flush', async () => {
    const killed = [...KILLED, 'a listener that comes too late', 'an exit that comes too late'];
    await Promise.all([
      ...killed.map((way) =>
        expectSame(way, env(), MAX_WAIT_MILLIS + BUSY_MACHINE_MILLIS, once('SIGTERM')),
      ),
      expectSame(
        'a listener that closes the server',
        env({ OTEL_EXPORTER_OTLP_TIMEOUT: '6000' }),
        6000 + BUSY_MACHINE_MILLIS,
        once('SIGTERM'),
      ),
    ]);
  });

  test('one that is being loaded ends at once; one that blocks meanwhile, after 5 s', async () => {
    await Promise.all([
      expectSame('loads for long', env(), ANSWERED_MILLIS, once('SIGTERM')),
      expectSame(
        'never turns again after the signal',
        env(),
        MAX_FLUSH_MILLIS + BUSY_MACHINE_MILLIS,
        once('SIGTERM'),
      ),
    ]);
  });

  test.each(['close-with-grace', 'fastify', 'async-exit-hook'])('%s: exits at once', (way) =>
    expectSame(way, env(), ANSWERED_MILLIS, once('SIGTERM')),
  );
});

describe('process 1 of a container', () => {
  const { status } = spawnSync(UNSHARE, [...CONTAINER, 'true']);
  if (status !== 0) {
    globalThis.test.skip('process 1: there is no unshare here, or it is not permitted', () => {});
    return;
  }

  /** From outside, as a container runtime sends them. */
  const signals =
    (...names: NodeJS.Signals[]): Drive =>
    async ({ child }) => {
      const pid = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'));
      for (const name of names) process.kill(pid, name);
    };

  test.each(['no listener', 'signal-exit 4'])(
    '%s: SIGTERM, and no other signal, makes it send what is left and exit with code 143',
    async (way) => {
      const drive =
        way === 'no listener' ? signals('SIGHUP', 'SIGINT', 'SIGTERM') : signals('SIGTERM');
      const { end, millis, delayMillis } = await run(way, receiver.env, drive, true);
      expect(end).toMatchObject({ code: 143, signal: null, stderr: '' });
      expect(receiver.metricNames).toContain('event_loop.lag');
      judgeUnlessDelayed(delayMillis, DELAY_MILLIS, () =>
        expect(millis).toBeLessThan(ANSWERED_MILLIS),
      );
    },
  );

  test('a listener for SIGTERM decides how it ends, as without', async () => {
    const drive = signals('SIGTERM');
    const without = await run('close-with-grace', undefined, drive, true);
    const under = await run('close-with-grace', receiver.env, drive, true);
    expect(under.end).toEqual(without.end);
  });
});
