/** The health server's thread, as the main thread starts it, starts it again, and ends it. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Health } from '../../../src/core/record/lag/health.ts';
import { EventLoopInstrumentation } from '../../../src/index.ts';
import { OnceLogger } from '../../../src/otel/diag-once.ts';
import { SystemClock } from '../../../src/support/clock.ts';
import { HealthServer } from '../../../src/threads/health-server/health-server.ts';
import { createBeatMemory } from '../../../src/threads/health-server/protocol.ts';
import { freePort } from '../../../tools/harness.cjs';

/** The first restart comes after a second. */
const RESTART_MILLIS = 1000;

jest.mock('node:worker_threads', () => {
  const actual = jest.requireActual('node:worker_threads');
  return { ...actual, Worker: jest.fn((...args) => new actual.Worker(...args)) };
});
const workers = () => jest.mocked(Worker).mock.results.map(({ value }) => value as Worker);

let server: HealthServer;
let port: number;
let logged: unknown[][];

beforeEach(async () => {
  jest.mocked(Worker).mockClear();
  logged = [];
  const write = (...args: unknown[]) => void logged.push(args);
  const log = new OnceLogger({ debug() {}, info() {}, warn: write, error: write }, () => true);
  port = await freePort();
  const memory = {
    beat: createBeatMemory(),
    lag: new Health(new SystemClock(), 20).share(),
    watchdog: undefined,
  };
  const limits = {
    failAfterMillis: 30_000,
    maxBlockedMillis: 300_000,
    thresholdMillis: 100,
    lagIntervalMillis: 20,
  };
  const options = { port, host: '127.0.0.1', ...limits };
  const times = { ran: Number.NaN, waited: Number.NaN };
  server = new HealthServer({ ...options, memory }, undefined, times, log);
});
afterEach(() => server.stop());

const due = () => performance.now() + 60_000;

/** Once somebody listens. */
async function status(): Promise<string> {
  for (;;) {
    try {
      const response = await fetch(`http://127.0.0.1:${port}/livez`);
      return ((await response.json()) as { status: string }).status;
    } catch {
      server.beat(due());
    }
  }
}

test('a thread that has ended is started again, on a beat', async () => {
  server.start();
  server.beat(due());
  await status();
  const [first] = workers() as [Worker];
  void first.terminate();
  await once(first, 'exit');
  const ended = performance.now();
  expect(await status()).toBe('ok');
  expect(performance.now() - ended).toBeGreaterThan(RESTART_MILLIS - 50);
  expect(workers()).toHaveLength(2);
  expect(logged).toEqual([]);
});

test.each(['start', 'beat', 'stop'] as const)(
  'what %s throws does not reach the application, and the lag is sampled',
  async (method) => {
    const spy = jest.spyOn(HealthServer.prototype, method).mockImplementation(() => {
      throw new Error('no');
    });
    const eventLoop = new EventLoopInstrumentation({
      healthServer: { port },
      captureStack: false,
      lagIntervalMillis: 1,
    });
    const sampled = jest.spyOn(Health.prototype, 'lag');
    while (sampled.mock.calls.length < 5) await new Promise((resolve) => setTimeout(resolve, 2));
    eventLoop.disable();
    expect(spy).toHaveBeenCalled();
    spy.mockRestore();
    sampled.mockRestore();
    for (const worker of workers()) await worker.terminate();
  },
);
