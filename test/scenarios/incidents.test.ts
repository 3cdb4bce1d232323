/**
 * Published production incidents, scaled down to seconds. The services are real, the load comes
 * from this process, and their telemetry is compared with what they measured themselves.
 */
import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import {
  countedBlocks,
  expectBlock,
  expectBlockMetric,
  expectBlocks,
  expectNothingReported,
  expectQuietExit,
  expectSoundBlocks,
  lagOf,
  lengthTolerance,
  truthNamed,
  truthsNamed,
} from './support/expect-blocks.ts';
import {
  type App,
  type AsyncHooksMode,
  type Run,
  runApp,
  type Truth,
  wantedModes,
} from './support/run-app.ts';
import { test } from './support/scenario.ts';
import {
  judgeUnlessDelayed,
  lateOf,
  runDelayOf,
  voidBlock,
  withoutCpuBetween,
} from './support/validity.ts';

/** What `lagIntervalMillis` is by default: the lag is sampled this often. */
const LAG_INTERVAL_MILLIS = 20;
/** What the machine may take of the figures of a whole run. */
const DELAY_MILLIS = 20;

/** A service under load from this process. */
class Client {
  /**
   * As a load balancer does, it keeps its connections, and waits for a free one when it has that
   * many.
   */
  static readonly CONNECTIONS = 40;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Client.CONNECTIONS });
  readonly #port: number;

  constructor(port: string) {
    this.#port = Number(port);
  }

  static async of(app: App): Promise<Client> {
    return new Client(await app.printed('listening '));
  }

  /** Milliseconds from sending the request to having the whole answer. */
  send(path: string, body?: string): Promise<number> {
    const start = performance.now();
    return new Promise((resolve, reject) => {
      const method = body === undefined ? 'GET' : 'POST';
      const headers =
        body === undefined ? {} : { 'content-length': body.length, 'x-size': body.length };
      const sent = httpRequest(
        { port: this.#port, host: '127.0.0.1', agent: this.#agent, path, method, headers },
        (response) => {
          response.resume();
          response.on('end', () => {
            if (response.statusCode === 200) resolve(performance.now() - start);
            else reject(new Error(`${path}: status ${response.statusCode}`));
          });
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }

  /**
   * Sends a request every so often, whether or not the earlier ones were answered, until the
   * promise is settled.
   */
  async sendEvery(millis: number, path: string, until: Promise<unknown>): Promise<number[]> {
    const start = performance.now();
    const waits: Promise<number>[] = [];
    // by the clock: an interval alone would send fewer than it should
    const timer = setInterval(() => {
      while (waits.length * millis < performance.now() - start) waits.push(this.send(path));
    }, millis);
    await until.finally(() => clearInterval(timer));
    return Promise.all(waits);
  }

  close(): void {
    this.#agent.destroy();
  }
}

async function endPhase(app: App, name: string): Promise<void> {
  app.child.stdin?.write(`phase ${name}\n`);
  await app.printed(`phase ${name}`);
}

/** A service, warm, probed by a health check, that computes for so long. */
async function compute(
  style: string,
  millis: number,
  asyncHooks: AsyncHooksMode,
): Promise<{ run: Run; probes: number[] }> {
  let probes: number[] = [];
  const run = await runApp('hashing-service.cjs', { asyncHooks }, async (app) => {
    const client = await Client.of(app);
    for (let i = 0; i < 3; i++) {
      await client.send('/healthcheck');
      await client.send(`/${style}?millis=5`);
    }
    await endPhase(app, 'warm');
    probes = await client.sendEvery(25, '/healthcheck', client.send(`/${style}?millis=${millis}`));
    await endPhase(app, 'compute');
    client.close();
  });
  return { run, probes };
}

/**
 * The probes did have to wait: they were sent when the block began, if this process had a CPU.
 */
function expectWaits(run: Run, probes: number[]): void {
  judgeUnlessDelayed(lateOf(run.stalls), DELAY_MILLIS, () =>
    expect(Math.max(...probes)).toBeGreaterThan(300),
  );
}

describe.each(wantedModes('always', 'auto'))('with asyncHooks %s', (asyncHooks) => {
  test('compute-sync: the block is a child of the span of the handler that computed', async () => {
    const { run, probes } = await compute('compute-sync', 400, asyncHooks);

    expectBlocks(run, [{ truth: 'compute-sync 400', kind: 'callback' }]);
    expectBlockMetric(run);
    expectQuietExit(run);
    const handler = run.spans.find((span) => span.spanId === run.blocks[0]?.parentSpanId);
    expect(handler?.name).toMatch(/^request handler/);
    expectWaits(run, probes);
  });

  test('compute-async: awaiting each step does not hide the block', async () => {
    const { run, probes } = await compute('compute-async', 400, asyncHooks);

    expectBlocks(run, [{ truth: 'compute-async 400', kind: 'microtasks' }]);
    expectBlockMetric(run);
    expectQuietExit(run);
    expectWaits(run, probes);
  });

  test('compute-with-next-tick: a chain of ticks is one block', async () => {
    const { run, probes } = await compute('compute-with-next-tick', 400, asyncHooks);

    expectBlocks(run, [{ truth: 'compute-with-next-tick 400', kind: 'microtasks' }]);
    expectBlockMetric(run);
    expectQuietExit(run);
    expectWaits(run, probes);
  });

  test('time-slicing: at half its length as the threshold every slice is a block', async () => {
    // 8 times the published sizes: on a shared machine something else takes the processor for 5 ms
    // now and then, and the first report, whose code has never run, takes up to 28 ms of CPU there.
    const run = await runApp('time-slicing.cjs', {
      asyncHooks,
      env: { SLICE_MILLIS: '80', THRESHOLD_MILLIS: '40' },
    });

    expect(run.truths.length).toBe(10);
    expectBlocks(
      run,
      run.truths.map((truth) => ({ truth: truth.label, kind: 'microtasks' })),
    );
    expectBlockMetric(run);
    expectQuietExit(run);
  });
});

test.each(['compute-with-set-immediate', 'compute-with-set-timeout'])(
  '%s: yielding to the loop is no block',
  async (style) => {
    const FAST_MILLIS = 100;
    const NEAR_ZERO_MILLIS = 10;
    const { run, probes } = await compute(style, 400, 'auto');

    expectNothingReported(run);
    expectQuietExit(run);
    expect(truthNamed(run, `${style} 400`).durationMillis).toBeGreaterThan(390);
    judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
      expect(lagOf(run, 'compute').count).toBeGreaterThan(10);
      expect(median(probes)).toBeLessThan(FAST_MILLIS);
      expect(lagOf(run, 'compute').meanMillis).toBeLessThan(NEAR_ZERO_MILLIS);
    });
  },
);

test('time-slicing: slices of 10 ms are nothing at a threshold of 100 ms', async () => {
  const run = await runApp('time-slicing.cjs', {
    env: { SLICE_MILLIS: '10', THRESHOLD_MILLIS: '100' },
  });

  expect(run.truths.length).toBe(10);
  expectNothingReported(run);
  expectQuietExit(run);
});

test('resolver: the helper is named, neither the resolver nor what the framework wraps around it', async () => {
  const run = await runApp('graphql-service.cjs', {}, async (app) => {
    const client = await Client.of(app);
    await client.send('/customer');
    client.close();
  });

  expectQuietExit(run);
  expectSoundBlocks(run);
  const block = expectBlock(run, { truth: 'total', kind: 'callback' });
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
    expect(block.attributes['code.function.name']).toBe('sumUpOrders'),
  );
  expect(block.attributes['code.file.path']).toMatch(/graphql-service\.cjs$/);
  const parent = run.spans.find((span) => span.spanId === block.parentSpanId);
  expect(parent?.name).toBe('graphql.resolve customer.total');
});

test('nested loop: the block is a child of the custom span', async () => {
  const run = await runApp('nested-loop.cjs', {}, async (app) => {
    const client = await Client.of(app);
    for (let i = 0; i < 3; i++) await client.send('/trace?rows=1000');
    await client.send('/trace?rows=10000');
    client.close();
  });

  expectBlocks(run, [{ truth: 'build tree of 10000', kind: 'callback' }]);
  expectBlockMetric(run);
  expectQuietExit(run);
  expect(run.spans.find((span) => span.spanId === run.blocks[0]?.parentSpanId)?.name).toBe(
    'build tree',
  );
});

test('big payloads: parsing, measuring and validating are one block each', async () => {
  const person = { name: 'Some Body', email: 'somebody.or.other@example.com' };
  const order = {
    id: 'order-1234567',
    buyer: person,
    seller: person,
    amount: 12.5,
    tags: ['new', 'paid'],
  };
  const body = (orders: number) => `[${Array(orders).fill(JSON.stringify(order)).join(',')}]`;
  const big = body(200_000);
  const run = await runApp('big-payload.cjs', {}, async (app) => {
    const client = await Client.of(app);
    for (let i = 0; i < 3; i++) await client.send('/orders', body(100));
    await client.send('/orders', big);
    client.close();
  });

  const stages = ['parse', 'measure', 'validate'].map((stage) => `${stage} ${big.length}`);
  for (const stage of stages) expect(truthNamed(run, stage).durationMillis).toBeGreaterThan(65);
  expectBlocks(
    run,
    stages.map((truth) => ({ truth, kind: 'callback' })),
  );
  expectBlockMetric(run);
  expectQuietExit(run);
});

test('one second of sync work: one block of a second, and every wait is in the lag', async () => {
  const run = await runApp('one-second.cjs');

  expectBlocks(run, [{ truth: 'work', kind: 'callback' }]);
  expectBlockMetric(run);
  expectQuietExit(run);
  expect(run.notes['interval fired']).toBe(true);
  expect(run.blocks[0]?.traceId).not.toBe(run.notes['interval trace']);
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
    expect(lagOf(run, 'before').maxMillis).toBeLessThan(100),
  );
  expectLagOfBlocks(run, 'work', [truthNamed(run, 'work').durationMillis]);
});

test('overload: many short callbacks are healthy below capacity, and pile up above it', async () => {
  // not 10: on a shared machine a service does not have the whole processor
  const HEALTHY_INTERVAL_MILLIS = 14;
  const OVERLOAD_INTERVAL_MILLIS = 5;
  /**
   * What an iteration does before its first task and after its last: connections, headers,
   * answers.
   */
  const REQUEST_TOLERANCE_MILLIS = 10;
  /** The part of it that the machine may take. */
  const AROUND_MILLIS = 3;
  /** What a report takes, with this app's exporters: earlier blocks' come after the last task. */
  const REPORT_MILLIS = 12;
  /** Far more than the 8 ms a task works for. */
  const STALLED_MILLIS = 30;
  let overloadTasks = 0;
  const run = await runApp('task-service.cjs', {}, async (app) => {
    const client = await Client.of(app);
    await client.sendEvery(5, '/warm-up', wait(5 * 1.5 * Client.CONNECTIONS));
    for (let i = 0; i < 20; i++) await client.send('/');
    await endPhase(app, 'warm');
    await client.sendEvery(HEALTHY_INTERVAL_MILLIS, '/', wait(1000));
    await endPhase(app, 'healthy');
    overloadTasks = (await client.sendEvery(OVERLOAD_INTERVAL_MILLIS, '/', wait(1500))).length;
    await endPhase(app, 'overloaded');
    client.close();
  });

  expectQuietExit(run);
  expectSoundBlocks(run);
  // None is counted and not shown, but for the package's own work if that has to wait for a
  // CPU.
  expect(countedBlocks(run)).toBeGreaterThanOrEqual(run.blocks.length);
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
    expect(countedBlocks(run)).toBe(run.blocks.length),
  );
  const healthy = run.metrics.filter((metric) => metric.phase === 'healthy');
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
    expect(healthy.map((metric) => metric.name)).not.toContain('event_loop.block.duration');
    expect(lagOf(run, 'healthy').maxMillis).toBeLessThan(100);
  });

  const own = run.metrics.filter((metric) => metric.name === 'event_loop.own.duration');
  const threads = own.map(({ attributes }) => attributes['event_loop.own.thread']);
  // Those of the package are known on Linux only.
  if (process.platform === 'linux') expect(new Set(threads)).toEqual(new Set(['main', 'watchdog']));
  else expect(threads).toContain('main');

  const tasks = truthsNamed(run, 'task');
  let pileUps = 0;
  for (const block of run.blocks) {
    const blocking = tasks.filter(
      (task) => task.endMillis > block.startMillis + 1 && task.startMillis < block.endMillis - 1,
    );
    // if the machine was suspended in the middle of a task, that task alone was the block
    if (blocking.some((task) => task.durationMillis > STALLED_MILLIS)) continue;
    // nor if nothing but waiting for a CPU made it reach the threshold
    if (voidBlock(run, block) !== undefined) continue;
    pileUps++;
    const [first, last] = [blocking[0], blocking.at(-1)] as [Truth, Truth];
    expect(block.attributes['event_loop.block.kind']).toBe('pile-up');
    expect(block.durationMillis).toBeGreaterThanOrEqual(100);
    expect(block.attributes['event_loop.block.callbacks']).toBeGreaterThanOrEqual(2);
    const aroundMillis =
      withoutCpuBetween(run, block, block.startMillis, first.startMillis) +
      withoutCpuBetween(run, block, last.endMillis, block.endMillis);
    // garbage collection may lie before the first task and after the last one, too
    const gcMillis = Number(block.attributes['event_loop.block.gc_time'] ?? 0) * 1000;
    const toleranceMillis = REQUEST_TOLERANCE_MILLIS + gcMillis + aroundMillis;
    judgeUnlessDelayed(aroundMillis, AROUND_MILLIS, () => {
      expect(Math.abs(block.startMillis - first.startMillis)).toBeLessThan(toleranceMillis);
      const reports = run.blocks
        .map(({ spanId }) => Number(run.notes[`reported ${spanId}`]))
        .filter((atMillis) => atMillis > last.endMillis && atMillis < block.endMillis);
      expect(Math.abs(block.endMillis - last.endMillis)).toBeLessThan(
        toleranceMillis + reports.length * REPORT_MILLIS,
      );
    });
    // on the trace of one that ran part of it and can show all of it, or on none
    const lengthMillis = Number(run.notes[`length ${block.spanId}`]);
    // (one that ran most of it may have started later)
    expect(lengthMillis - block.durationMillis).toBeLessThan(
      Math.max(lengthTolerance(lengthMillis), lengthMillis / 4),
    );
    // (then the attribute has the exact length; a span without it is as long as its block)
    const exactSeconds = block.attributes['event_loop.block.duration'];
    expect(
      exactSeconds === undefined ? block.durationMillis : Number(exactSeconds) * 1000,
    ).toBeCloseTo(lengthMillis, 2);
    if (block.parentSpanId)
      expect(blocking.map((task) => task.spanId)).toContain(block.parentSpanId);
  }
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => expect(pileUps).toBeGreaterThan(2));
  const pileUpMillis = run.blocks.reduce((sum, block) => sum + block.durationMillis, 0);
  const overloadMillis = tasks
    .slice(-overloadTasks)
    .reduce((sum, task) => sum + task.durationMillis, 0);
  // the other time is from before the pile-up had built up
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
    expect(pileUpMillis).toBeGreaterThan(overloadMillis / 2),
  );
  expectLagOfBlocks(
    run,
    'overloaded',
    run.blocks.map((block) => block.durationMillis),
  );
});

/**
 * The lag has every moment of these blocks: an event that arrives at a random moment of a block of
 * T waits for T/2 on average, and one arrival per interval is stood for.
 */
function expectLagOfBlocks(run: Run, phase: string, blockMillis: number[]): void {
  /** Where in the block the first sample falls is chance, and so is what else delayed an event. */
  const SUM_TOLERANCE_RATIO = 0.2;
  const longest = Math.max(...blockMillis);
  const truth = blockMillis.reduce(
    (sum, millis) => sum + (millis * millis) / 2 / LAG_INTERVAL_MILLIS,
    0,
  );
  const lag = lagOf(run, phase);
  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
    expect(lag.maxMillis).toBeGreaterThan(longest - 1.5 * LAG_INTERVAL_MILLIS);
    expect(lag.maxMillis).toBeLessThan(longest + 1.5 * LAG_INTERVAL_MILLIS);
    expect(lag.sumMillis / truth).toBeGreaterThan(1 - SUM_TOLERANCE_RATIO);
    expect(lag.sumMillis / truth).toBeLessThan(1 + SUM_TOLERANCE_RATIO);
  });
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}
