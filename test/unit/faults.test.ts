/** A throw anywhere in our own code leaves the host running: injected at every boundary, with the real hooks on. */
import { context, diag, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { ContextScopes } from '../../src/hooks/context-scopes.ts';
import { EventLoopInstrumentation, EventLoopSpanProcessor } from '../../src/index.ts';
import { Health } from '../../src/lag/health.ts';
import { Heartbeat } from '../../src/lag/lag-sampler.ts';
import { Pulse } from '../../src/lag/pulse.ts';
import { CpuMeter } from '../../src/loop/cpu-meter.ts';
import { GcMeter } from '../../src/loop/gc-meter.ts';
import { IterationLedger } from '../../src/loop/ledger.ts';
import { Claims } from '../../src/loop/reported-intervals.ts';
import { Samples } from '../../src/loop/stack-samples.ts';
import { Blame } from '../../src/loop/votes.ts';
import { BlockReporter } from '../../src/report/block-reporter.ts';
import { EndedBlock } from '../../src/report/ended-block.ts';
import { PendingBlockSpan } from '../../src/report/pending-block-span.ts';
import { RateLimit } from '../../src/report/rate-limit.ts';
import { BlockFeed } from '../../src/stall/block-feed.ts';
import { OpenSpans } from '../../src/stall/open-spans.ts';
import { RecentBlocks } from '../../src/stall/recent-blocks.ts';
import { Stalls } from '../../src/stall/stalls.ts';
import { SystemClock } from '../../src/support/clock.ts';
import { Capturer } from '../../src/watchdog/capturer.ts';
import { Watchdog } from '../../src/watchdog/watchdog.ts';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from './support/sdk.ts';

type Methods = Record<string, unknown>;

/** Every method of our own that runs behind a boundary: hooks, scopes, the timer, the report. */
const METHODS: [string, object, string][] = (
  [
    [SystemClock, 'SystemClock'],
    [IterationLedger, 'IterationLedger'],
    [Blame, 'Blame'],
    [Claims, 'Claims'],
    [CpuMeter, 'CpuMeter'],
    [GcMeter, 'GcMeter'],
    [Heartbeat, 'Heartbeat'],
    [ContextScopes, 'ContextScopes'],
    [BlockReporter, 'BlockReporter'],
    [RateLimit, 'RateLimit'],
    [Capturer, 'Capturer'],
    [Samples, 'Samples'],
    [Watchdog, 'Watchdog'],
    [Pulse, 'Pulse'],
    [Health, 'Health'],
    [Stalls, 'Stalls'],
    [RecentBlocks, 'RecentBlocks'],
    [OpenSpans, 'OpenSpans'],
    [BlockFeed, 'BlockFeed'],
    [EndedBlock, 'EndedBlock'],
    [PendingBlockSpan, 'PendingBlockSpan'],
  ] as [{ prototype: object }, string][]
).flatMap(([{ prototype }, name]) =>
  Object.entries(Object.getOwnPropertyDescriptors(prototype))
    .filter(([key, { value }]) => key !== 'constructor' && typeof value === 'function')
    .map(([key]): [string, object, string] => [`${name}.${key}`, prototype, key]),
);

const busy = (millis: number) => {
  const end = performance.now() + millis;
  while (performance.now() < end);
};

const blockingTimer = (millis: number) =>
  new Promise<void>((resolve) =>
    setTimeout(() => {
      busy(millis);
      resolve();
    }, 1),
  );

let exporter: InstanceType<typeof InMemorySpanExporter>;
let processor: EventLoopSpanProcessor;
let uncaught: jest.Mock;

beforeEach(() => {
  exporter = new InMemorySpanExporter();
  processor = new EventLoopSpanProcessor();
  trace.setGlobalTracerProvider(
    new TracerProvider({ spanProcessors: [processor, new SimpleSpanProcessor({ exporter })] }),
  );
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  uncaught = jest.fn();
  process.on('uncaughtException', uncaught);
  process.on('unhandledRejection', uncaught);
});

afterEach(async () => {
  await processor.shutdown();
  process.off('uncaughtException', uncaught);
  process.off('unhandledRejection', uncaught);
  context.disable();
  trace.disable();
  diag.disable();
});

/** One of everything that leads into our code, and something that blocks. */
async function live() {
  const tracer = trace.getTracer('test');
  await new Promise<void>((resolve) => setTimeout(resolve, 2));
  await new Promise<void>((resolve) => setImmediate(resolve));
  await new Promise<void>((resolve) => process.nextTick(resolve));
  const sum = await tracer.startActiveSpan('host', async (span) => {
    busy(8);
    await null;
    busy(8);
    span.end();
    return 40 + 2;
  });
  expect(sum).toBe(42);
  await blockingTimer(8);
  await new Promise<void>((resolve) => setTimeout(resolve, 25));
}

test('the list of boundaries is not empty', () => {
  expect(METHODS.map(([name]) => name)).toEqual(
    expect.arrayContaining([
      'IterationLedger.before',
      'IterationLedger.scope',
      'Heartbeat.beat',
      'BlockReporter.flush',
    ]),
  );
});

describe.each(['promises', 'off'] as const)('asyncHooks: %s', (asyncHooks) => {
  test.each(METHODS)('a throw in %s', async (_name, prototype, key) => {
    const logged = jest.fn();
    diag.setLogger(
      { error: logged, warn: logged, info() {}, debug() {}, verbose() {} },
      { suppressOverrideMessage: true },
    );
    const original = (prototype as Methods)[key];
    const thrower = jest.fn(() => {
      throw new Error(`injected into ${key}`);
    });
    const instrumentation = new EventLoopInstrumentation({
      thresholdMillis: 5,
      lagIntervalMillis: 5,
      asyncHooks,
      enabled: false,
    });
    (prototype as Methods)[key] = thrower;
    try {
      instrumentation.enable();
      const waits = trace.getTracer('test').startSpan('waits');
      await live();
      waits.end();
      instrumentation.health();
      instrumentation.disable();
    } finally {
      (prototype as Methods)[key] = original;
    }
    expect(uncaught).not.toHaveBeenCalled();
    // Said once per cause, not once per throw.
    expect(logged.mock.calls.length).toBeLessThanOrEqual(4);
    // What was broken is whole again: blocks are found as before, which is how we know that nothing was left half done.
    instrumentation.enable();
    await live();
    instrumentation.disable();
    expect(exporter.getFinishedSpans().map((s) => s.name)).toContain('event-loop-blocked');
  });
});

test('a context manager that throws when it is asked for the active context', async () => {
  const manager = new AsyncLocalStorageContextManager().enable();
  context.disable();
  context.setGlobalContextManager(manager);
  const instrumentation = new EventLoopInstrumentation({ thresholdMillis: 5 });
  await new Promise((resolve) => setTimeout(resolve, 5));
  const active = jest.spyOn(manager, 'active').mockImplementation(() => {
    throw new Error('theirs');
  });
  await blockingTimer(10);
  await new Promise((resolve) => setTimeout(resolve, 30));
  active.mockRestore();
  instrumentation.disable();
  expect(uncaught).not.toHaveBeenCalled();
});

test('a diag logger that throws', async () => {
  const broken = () => {
    throw new Error('theirs');
  };
  const instrumentation = new EventLoopInstrumentation({ thresholdMillis: 5, blockHook: broken });
  diag.setLogger(
    { error: broken, warn: broken, info() {}, debug() {}, verbose() {} },
    { suppressOverrideMessage: true },
  );
  await live();
  instrumentation.disable();
  expect(uncaught).not.toHaveBeenCalled();
});
