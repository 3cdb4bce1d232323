/** The recipes of `examples/`, as they are, under more load than one thread can carry. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { BACKGROUND } from './support/background.ts';
import { sharedRun, test } from './support/scenario.ts';
import { judgeUnlessDelayed } from './support/validity.ts';

/** Each request of the examples works for 8 ms. */
const WORK_MILLIS = 8;
const CAPACITY_PER_SECOND = 1000 / WORK_MILLIS;
const SECONDS = 3;
/** What may be under way at once: enough for the backlog of the whole test. */
const MAX_CONNECTIONS = 2000;

interface Answer {
  status: number | undefined;
  retryAfter: string | undefined;
  sentAt: number;
  millis: number;
}

interface Service {
  /** How long its main thread has waited for a CPU so far; 0 if the system does not say. */
  runDelayMillis(): number;
  send(where: string): Promise<Answer>;
  stop(): Promise<void>;
}

async function startExample(name: string): Promise<Service> {
  const child: ChildProcess = spawn(
    process.execPath,
    [...BACKGROUND, path.join(__dirname, '../../examples', name)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        PORT: '0',
        OTEL_TRACES_EXPORTER: 'none',
        OTEL_METRICS_EXPORTER: 'none',
        OTEL_LOGS_EXPORTER: 'none',
      },
    },
  );
  const port = await new Promise<number>((resolve) => {
    child.stdout?.on('data', (text) => resolve(Number(/listening (\d+)/.exec(String(text))?.[1])));
  });
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_CONNECTIONS });
  return {
    runDelayMillis() {
      try {
        return Number(readFileSync(`/proc/${child.pid}/schedstat`, 'latin1').split(' ')[1]) / 1e6;
      } catch {
        return 0;
      }
    },
    send(where) {
      const sentAt = performance.now();
      return new Promise((resolve, reject) => {
        get({ port, host: '127.0.0.1', agent, path: where }, (response) => {
          response.resume().on('end', () =>
            resolve({
              status: response.statusCode,
              retryAfter: response.headers['retry-after'],
              sentAt,
              millis: performance.now() - sentAt,
            }),
          );
        }).on('error', reject);
      });
    },
    async stop() {
      agent.destroy();
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** What the machine may take of the seconds under load. */
const DELAY_MILLIS = 150;

/**
 * Sends requests at a steady rate, whether or not the earlier ones were answered, and waits for all
 * answers.
 */
async function load(service: Service, perSecond: number, seconds: number): Promise<Answer[]> {
  const start = performance.now();
  const answers: Promise<Answer>[] = [];
  while (performance.now() - start < seconds * 1000) {
    while (answers.length < ((performance.now() - start) / 1000) * perSecond)
      answers.push(service.send('/'));
    await wait(2);
  }
  return Promise.all(answers);
}

async function warmUp(service: Service): Promise<void> {
  await load(service, CAPACITY_PER_SECOND / 3, 0.5);
}

function p99(answers: Answer[]): number {
  const millis = answers.map((answer) => answer.millis).sort((a, b) => a - b);
  return millis[Math.floor(millis.length * 0.99)] as number;
}

/** @param use gives what judges the figures, which waiting for a CPU makes void */
async function judgeExample(
  name: string,
  use: (service: Service) => Promise<() => Promise<void> | void>,
): Promise<void> {
  let delayMillis = 0;
  const judge = await withExample(name, async (service) => {
    const before = service.runDelayMillis();
    const judged = await use(service);
    delayMillis = service.runDelayMillis() - before;
    return judged;
  });
  try {
    await judge();
  } catch (error) {
    judgeUnlessDelayed(delayMillis, DELAY_MILLIS, () => {
      throw error;
    });
  }
}

async function withExample<T>(name: string, use: (service: Service) => Promise<T>): Promise<T> {
  const service = await startExample(name);
  try {
    await warmUp(service);
    return await use(service);
  } finally {
    await service.stop();
  }
}

const FAST_MILLIS = 250;
const SLOW_MILLIS = 2000;
/** Of a Kubernetes probe, unless it says otherwise. */
const CHECK_TIMEOUT_MILLIS = 1000;
/** The example's window for utilization is a second, and the load has to get going. */
const KNOWN_AFTER_MILLIS = 1500;

/**
 * The service that sheds nothing, under twice its load, asked for its health ten times a second;
 * then at rest.
 */
async function overloadUnprotected(service: Service) {
  const delayBefore = service.runDelayMillis();
  const { status: statusBefore } = await service.send('/health');
  const checks: Promise<Answer>[] = [];
  const start = performance.now();
  const timer = setInterval(() => checks.push(service.send('/health')), 100);
  const answers = await load(service, 2 * CAPACITY_PER_SECOND, SECONDS);
  clearInterval(timer);
  const checked = await Promise.all(checks);
  // The window of the example.
  await wait(5200);
  const { status: statusAfter } = await service.send('/health');
  const delayMillis = service.runDelayMillis() - delayBefore;
  return { statusBefore, start, answers, checked, statusAfter, delayMillis };
}

const lookAtUnprotected = sharedRun(() =>
  withExample('health-check-express.cjs', overloadUnprotected),
);

const answeredAt = ({ sentAt, millis }: Answer) => sentAt + millis;

/** How many requests it answers in a second on this machine, as it is now. */
function capacityOf(answers: Answer[]): number {
  const first = Math.min(...answers.map(({ sentAt }) => sentAt));
  const last = Math.max(...answers.map(answeredAt));
  return answers.length / ((last - first) / 1000);
}

test.each(['shed-load-express.cjs', 'shed-load-fastify.cjs'])(
  '%s: at half the capacity nothing is shed; at twice, what is accepted is answered in time',
  async (example) => {
    await judgeExample(example, async (service) => {
      const few = await load(service, CAPACITY_PER_SECOND / 2, 1);
      const answers = await load(service, 2 * CAPACITY_PER_SECOND, SECONDS);
      return () =>
        lookAtUnprotected((unprotected) => {
          expect(few.filter(({ status }) => status !== 200).length / few.length).toBeLessThan(0.01);

          const accepted = answers.filter(({ status }) => status === 200);
          const shed = answers.filter(({ status }) => status === 503);
          const figures = {
            accepted: accepted.length,
            shed: shed.length,
            p99: p99(accepted),
            p99Unprotected: p99(unprotected.answers),
            capacity: capacityOf(unprotected.answers),
          };
          expect(figures.p99Unprotected).toBeGreaterThan(SLOW_MILLIS);
          expect(figures.p99).toBeLessThan(FAST_MILLIS);
          expect(accepted.length + shed.length).toBe(answers.length);
          expect(shed.every(({ retryAfter }) => retryAfter === '1')).toBe(true);
          // It does not shed more than it has to.
          expect(accepted.length).toBeGreaterThan(SECONDS * figures.capacity * 0.67);
        });
    });
  },
);

test('the health check turns 503 before clients give up, and 200 again afterwards', () =>
  lookAtUnprotected(({ statusBefore, start, answers, checked, statusAfter, delayMillis }) => {
    const loadEnd = start + SECONDS * 1000;
    const firstTooLate = Math.min(
      ...answers.map(({ sentAt, millis }) =>
        millis > SLOW_MILLIS ? sentAt + SLOW_MILLIS : Infinity,
      ),
    );
    // Connections are not accepted in the order in which they came: a check may have to wait as
    // long as any request. That is a verdict, too.
    const unhealthyAt = (check: Answer) =>
      Math.min(
        check.status === 503 ? answeredAt(check) : Infinity,
        check.millis > CHECK_TIMEOUT_MILLIS ? check.sentAt + CHECK_TIMEOUT_MILLIS : Infinity,
      );
    const underLoad = checked.filter(
      (check) => answeredAt(check) > start + KNOWN_AFTER_MILLIS && answeredAt(check) < loadEnd,
    );
    judgeUnlessDelayed(delayMillis, DELAY_MILLIS, () => {
      expect(statusBefore).toBe(200);
      expect(firstTooLate).toBeLessThan(Infinity);
      expect(Math.min(...checked.map(unhealthyAt))).toBeLessThan(firstTooLate);
      expect(underLoad.length).toBeGreaterThan(0);
      expect(underLoad.filter((check) => check.status !== 503)).toEqual([]);
      expect(statusAfter).toBe(200);
    });
  }));
