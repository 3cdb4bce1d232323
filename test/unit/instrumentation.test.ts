import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import fs, { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path, { join } from 'node:path';
import {
  type Context,
  context,
  diag,
  metrics,
  ROOT_CONTEXT,
  type SpanContext,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { type Instrumentation, InstrumentationBase } from '@opentelemetry/instrumentation';
import { Watchdog } from '../../src/core/sample/watchdog.ts';
import {
  BLOCK_CHANNEL,
  type BlockMessage,
  EventLoopInstrumentation,
  EventLoopSpanProcessor,
  LAG_CHANNEL,
  type LagMessage,
} from '../../src/index.ts';
import type { EventLoopBlock, EventLoopInstrumentationConfig } from '../../src/types.ts';
import { PACKAGE_NAME, PACKAGE_VERSION } from '../../src/version.ts';
import { runDelayMillis, running } from '../support/thread-times.cjs';
import { unixTime } from '../support/unix-time.cjs';
import { captureDiag } from './support/capturing-logger.ts';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from './support/sdk.ts';

const THRESHOLD = 30;
const BLOCK = 60;
/** So long that the watchdog thread gets a CPU in it, on a busy machine as well. */
const NAMED_BLOCK = 500;

const exporter = new InMemorySpanExporter();
const created: EventLoopInstrumentation[] = [];
const create = (config: EventLoopInstrumentationConfig = {}) => {
  const instrumentation = new EventLoopInstrumentation({ thresholdMillis: THRESHOLD, ...config });
  created.push(instrumentation);
  return instrumentation;
};

beforeEach(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(
    new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }),
  );
});

afterEach(() => {
  for (const instrumentation of created.splice(0)) instrumentation.disable();
  exporter.reset();
  context.disable();
  trace.disable();
  metrics.disable();
  diag.disable();
});

const runDelay = () => runDelayMillis() ?? 0;
function busy(millis: number): number {
  let hash = 0;
  for (const goesOn = running(millis); goesOn(); )
    for (let i = 0; i < 1000; i++) hash = Math.imul(hash ^ i, 0x01000193);
  return hash;
}
const turns = async (count: number) => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setTimeout(resolve, 2));
};
const epochMillis = ([seconds, nanos]: [number, number]) => seconds * 1e3 + nanos / 1e6;
/** The wall clock is in whole milliseconds where a span starts. */
const CLOCK_TOLERANCE_MILLIS = 2;

/**
 * Blocks the loop in a callback of its own, lets it turn, and counts the spans. Without those of
 * blocks beside it that were none if the thread had not been waiting for a CPU.
 */
async function blockedSpans(action: () => void = () => busy(BLOCK)): Promise<number> {
  const delayBefore = runDelay();
  await turns(2);
  const during = { start: 0, end: 0 };
  await new Promise<void>((resolve) =>
    setTimeout(() => {
      during.start = unixTime();
      action();
      during.end = unixTime();
      resolve();
    }, 1),
  );
  await turns(3);
  // Jest is a loader: a thread compares what runs with the files.
  await Promise.all(created.map((each) => each.forceFlush()));
  const waited = runDelay() - delayBefore;
  const spans = exporter.getFinishedSpans().filter((span) => {
    if (span.name !== 'event-loop-blocked') return false;
    const [start, end] = [epochMillis(span.startTime), epochMillis(span.endTime)];
    const isAction =
      Math.min(end, during.end) - Math.max(start, during.start) > CLOCK_TOLERANCE_MILLIS;
    return isAction || end - start - waited >= THRESHOLD;
  });
  exporter.reset();
  return spans.length;
}

test('name and version are those of package.json', () => {
  // In the test matrix the package is installed as a dependency: its own manifest is the one that
  // counts.
  const manifests = [
    'node_modules/opentelemetry-instrumentation-event-loop/package.json',
    'package.json',
  ];
  const path = manifests
    .map((m) => join(__dirname, '../..', m))
    .find((m) => existsSync(m)) as string;
  const packageJson = JSON.parse(readFileSync(path, 'utf8'));
  expect(PACKAGE_NAME).toBe(packageJson.name);
  expect(PACKAGE_VERSION).toBe(packageJson.version);
});

test('is an Instrumentation, by its methods, and no InstrumentationBase', () => {
  const instrumentation: Instrumentation = create({ enabled: false });
  expect(instrumentation).not.toBeInstanceOf(InstrumentationBase);
  expect(instrumentation).toMatchObject({
    instrumentationName: PACKAGE_NAME,
    instrumentationVersion: PACKAGE_VERSION,
  });
});

test('a bad option is thrown by the constructor', () => {
  expect(() => create({ thresholdMillis: 0 })).toThrow(RangeError);
});

describe('enabled', () => {
  test('isEnabled() says so: a distribution asks each instrumentation before it switches it', () => {
    captureDiag();
    const first = create({ enabled: false });
    expect(first.isEnabled()).toBe(false);
    first.enable();
    const second = create();
    // Paused, and yet enabled.
    expect([first.isEnabled(), second.isEnabled()]).toEqual([true, true]);
    first.disable();
    expect([first.isEnabled(), second.isEnabled()]).toEqual([false, true]);
  });
});

describe('setConfig', () => {
  test('puts options in force at once', async () => {
    const instrumentation = create({ thresholdMillis: 10_000 });
    expect(await blockedSpans()).toBe(0);
    instrumentation.setConfig({ thresholdMillis: THRESHOLD });
    expect(await blockedSpans()).toBe(1);
    instrumentation.setConfig({ thresholdMillis: THRESHOLD, requireParentSpan: true });
    expect(await blockedSpans()).toBe(0);
    expect(instrumentation.getConfig()).toMatchObject({
      thresholdMillis: THRESHOLD,
      asyncHooks: 'auto',
    });
  });

  test('throws on a bad option, and what was in force stays so', async () => {
    const instrumentation = create();
    expect(() => instrumentation.setConfig({ thresholdMillis: -1 })).toThrow(RangeError);
    expect(instrumentation.getConfig().thresholdMillis).toBe(THRESHOLD);
    expect(await blockedSpans()).toBe(1);
  });

  test('enables and disables if it says so', async () => {
    const instrumentation = create({ enabled: false });
    instrumentation.setConfig({ thresholdMillis: THRESHOLD });
    expect(await blockedSpans()).toBe(0);
    instrumentation.setConfig({ thresholdMillis: THRESHOLD, enabled: true });
    expect(await blockedSpans()).toBe(1);
    instrumentation.setConfig({ thresholdMillis: THRESHOLD, enabled: false });
    expect(await blockedSpans()).toBe(0);
  });
});

describe('health', () => {
  const nothing = {
    lagMillis: 0,
    maxLagMillis: 0,
    utilization: 0,
    blockedMillis: 0,
    ownMillis: 0,
  };

  test.each([99, 10_001, Number.NaN])('refuses a window of %p', (windowMillis) => {
    expect(() => create().health(windowMillis)).toThrow(
      new RangeError(`health: windowMillis must be 100 to 10000, got ${windowMillis}`),
    );
  });

  test('refuses a window that is no number', () => {
    expect(() => create().health('500' as never)).toThrow(
      new TypeError('health: windowMillis must be a number, got string'),
    );
  });

  test('has the lag of a block that goes on', async () => {
    const instance = create();
    await new Promise((resolve) => setTimeout(resolve, 50));
    busy(BLOCK);
    expect(instance.health().maxLagMillis).toBeGreaterThan(BLOCK / 2);
  });

  test('is all 0 if it is not enabled', () => {
    const instance = create();
    busy(BLOCK);
    instance.disable();
    expect(instance.health()).toEqual(nothing);
    expect(create({ enabled: false }).health()).toEqual(nothing);
  });
});

test('promise reactions without stack samples: hooks say which span blocked, and which was stalled', async () => {
  const processor = new EventLoopSpanProcessor();
  trace.disable();
  trace.setGlobalTracerProvider(
    new TracerProvider({ spanProcessors: [processor, new SimpleSpanProcessor({ exporter })] }),
  );
  create({ captureStack: false });
  const span = trace.getTracer('test').startSpan('open');
  await turns(2);
  let begin = Number.NaN;
  await new Promise<void>((resolve) =>
    setTimeout(async () => {
      begin = unixTime();
      for (const goesOn = running(BLOCK); goesOn(); ) await null;
      resolve();
    }, 1),
  );
  await turns(3);
  span.end();
  const spans = exporter.getFinishedSpans();
  // On a busy machine there may have been one before.
  const block = spans.find(
    (s) => s.name === 'event-loop-blocked' && epochMillis(s.endTime) > begin,
  );
  expect(block).toBeDefined();
  const open = spans.find((s) => s.name === 'open');
  expect(block?.attributes['event_loop.block.stalled_spans']).toBe(1);
  expect(open?.attributes['event_loop.stall.duration']).toBeGreaterThan(0);
  await processor.shutdown();
});

test('metrics: a provider that was given stays when another becomes global', async () => {
  const instrumentation = create({ lagIntervalMillis: 1 });
  const given = { getMeter: jest.fn(() => metrics.getMeter('noop')) };
  instrumentation.setMeterProvider(given);
  const global = { getMeter: jest.fn(() => metrics.getMeter('noop')) };
  metrics.setGlobalMeterProvider(global);
  await turns(100);
  expect(given.getMeter).toHaveBeenCalledTimes(1);
  expect(global.getMeter).not.toHaveBeenCalledWith(
    'opentelemetry-instrumentation-event-loop',
    expect.anything(),
  );
});

test('a provider that throws does not reach the host, and the earlier one stays', async () => {
  const instrumentation = create({ lagIntervalMillis: 1 });
  const given = { getMeter: jest.fn(() => metrics.getMeter('noop')) };
  instrumentation.setMeterProvider(given);
  const fail = () => {
    throw new Error('no provider today');
  };
  instrumentation.setMeterProvider({ getMeter: fail });
  instrumentation.setTracerProvider({ getTracer: fail });
  instrumentation.setLoggerProvider({ getLogger: fail });
  metrics.setGlobalMeterProvider({ getMeter: fail });
  // The global provider is looked at every 50 beats of 1 ms: the given one is still followed.
  await turns(100);
  expect(await blockedSpans()).toBe(1);
});

test('writeReport() without the option reportFile: false, nothing is written, diag has why', async () => {
  const said: unknown[] = [];
  const ignore = () => {};
  const warn = (...message: unknown[]) => said.push(message.join(' '));
  diag.setLogger({ error: ignore, warn, info: ignore, debug: ignore, verbose: ignore });
  const folder = mkdtempSync(path.join(tmpdir(), 'event-loop-'));
  expect(await create().writeReport(path.join(folder, 'report.html'))).toBe(false);
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
  expect(said).toEqual([
    expect.stringMatching(/cannot write the report page.*needs the option reportFile/),
  ]);
});

describe('ready()', () => {
  test('is at once if no stacks are captured, or it is not enabled', async () => {
    await create({ captureStack: false }).ready();
    await create({ enabled: false }).ready();
  });

  test('is over when it is disabled', async () => {
    const instrumentation = create();
    const ready = instrumentation.ready();
    instrumentation.disable();
    await ready;
  });
});

describe('expectBlock', () => {
  /** Until the watchdog thread watches, a wait for a CPU beside the function is a block, too. */
  const createReady = async () => {
    const instrumentation = create();
    await instrumentation.ready();
    return instrumentation;
  };

  test('returns what the function returns, and throws what it throws, also if it is disabled', async () => {
    for (const instrumentation of [create(), create({ enabled: false })]) {
      expect(instrumentation.expectBlock(() => 7)).toBe(7);
      await expect(instrumentation.expectBlock(async () => 'later')).resolves.toBe('later');
      const error = new Error('theirs');
      const throwing = () => {
        throw error;
      };
      expect(() => instrumentation.expectBlock(throwing)).toThrow(error);
    }
  });

  test('refuses what is no function', () => {
    expect(() => create().expectBlock('warm-up' as never)).toThrow(
      new TypeError('expectBlock: fn must be a function, got string'),
    );
  });

  test('inside a span too, if most of the block is expected', async () => {
    const instrumentation = await createReady();
    const inSpan = (action: () => void) => () =>
      trace.getTracer('test').startActiveSpan('request', (span) => {
        action();
        span.end();
      });
    const expected = inSpan(() => instrumentation.expectBlock(() => busy(BLOCK)));
    expect(await blockedSpans(expected)).toBe(0);
  });

  test('without a context manager: what runs before the first await', async () => {
    context.disable();
    const instrumentation = await createReady();
    expect(await blockedSpans(() => instrumentation.expectBlock(() => busy(BLOCK)))).toBe(0);
  });
});

describe('reported without a span', () => {
  /** Longer than what a busy machine makes a block of, if no watchdog thread knows better. */
  const LONG = { thresholdMillis: 250 };
  const LONG_BLOCK = 300;
  const heard: BlockMessage[] = [];
  const hear = (message: unknown) => void heard.push(message as BlockMessage);
  beforeEach(() => subscribe(BLOCK_CHANNEL, hear));
  afterEach(() => {
    unsubscribe(BLOCK_CHANNEL, hear);
    heard.length = 0;
    jest.restoreAllMocks();
  });
  test('forceFlush() reports the block that is running', async () => {
    const instrumentation = create({ ...LONG, captureStack: false });
    await turns(2);
    busy(LONG_BLOCK);
    await instrumentation.forceFlush();
    const onRequest = {
      request: expect.any(Function),
      stacks: expect.any(Function),
      evidence: expect.any(Function),
    };
    expect(heard).toEqual([
      { block: expect.objectContaining({ callbacks: 1 }), context: ROOT_CONTEXT, ...onRequest },
    ]);
    expect(heard[0]?.block.durationMillis).toBeGreaterThanOrEqual(LONG_BLOCK);
  });

  test('console: a stderr that is closed does no harm', async () => {
    const instrumentation = create({ ...LONG, captureStack: false, console: true });
    jest.spyOn(fs, 'writeSync').mockImplementation(() => {
      throw new Error('EBADF');
    });
    const said = captureDiag();
    await turns(2);
    busy(LONG_BLOCK);
    await instrumentation.forceFlush();
    expect(heard).toHaveLength(1);
    instrumentation.disable();
    expect(said).toEqual([]);
  });
});

describe('channels', () => {
  const inTick = (action: () => void) =>
    new Promise<void>((resolve) => setTimeout(() => resolve(action()), 1));
  const heard = { block: [] as BlockMessage[], lag: [] as LagMessage[] };
  const onBlock = (message: unknown) => void heard.block.push(message as BlockMessage);
  const onLag = (message: unknown) => void heard.lag.push(message as LagMessage);
  afterEach(() => {
    unsubscribe(BLOCK_CHANNEL, onBlock);
    unsubscribe(LAG_CHANNEL, onLag);
  });

  test('of a block: request, stacks and evidence on request; of the lag: each sample', async () => {
    subscribe(BLOCK_CHANNEL, onBlock);
    subscribe(LAG_CHANNEL, onLag);
    const instrumentation = create({ thresholdMillis: 250 });
    await instrumentation.ready();
    await inTick(() =>
      trace.getTracer('test').startActiveSpan('work', (span) => {
        busy(NAMED_BLOCK);
        span.end();
      }),
    );
    await instrumentation.forceFlush();
    const [message] = heard.block;
    const { traceId } = trace.getSpanContext(message?.context as Context) as SpanContext;
    expect(message?.request()).toEqual({ operation: 'work', traceId });
    const frames = message?.stacks().flatMap((stack) => stack.frames) ?? [];
    expect(frames).toContainEqual(
      expect.objectContaining({ name: 'busy', file: __filename, inApp: true }),
    );
    const evidence = JSON.parse(JSON.stringify(message?.evidence({ every: 2 })));
    expect(evidence).toMatchObject({ version: 1, said: { code: { functionName: 'busy' } } });
    const half = Math.floor((message?.block.samples ?? 0) / 2);
    expect(evidence.samples).toHaveLength(half);
    expect(JSON.stringify(message?.evidence({ names: false }))).not.toContain('busy');
    const lags = heard.lag.map(({ lagMillis }) => lagMillis);
    expect(Math.max(...lags)).toBeGreaterThanOrEqual(NAMED_BLOCK - 20);
    const busies = heard.lag.map(({ busyMillis }) => busyMillis);
    const grown = (busies.at(-1) as number) - (busies[0] as number);
    expect(grown).toBeGreaterThanOrEqual(NAMED_BLOCK - 20);
  });

  test('when it is disabled, what has ended is told before the outputs stop', async () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'event-loop-')), 'blocks.jsonl');
    const instrumentation = create({ thresholdMillis: 250, recordFile: file });
    await instrumentation.ready();
    await inTick(() => busy(NAMED_BLOCK));
    await turns(1);
    instrumentation.disable();
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(1);
    rmSync(path.dirname(file), { recursive: true });
  });
});

describe('captureStack, inside jest: the package lives in a realm of its own', () => {
  /** The one block, by the hook: the exporter is emptied behind it. */
  async function theBlock(config: EventLoopInstrumentationConfig) {
    const reported: EventLoopBlock[] = [];
    await create({
      thresholdMillis: 60,
      ...config,
      blockHook: (_span, block) => reported.push(block),
    }).ready();
    expect(await blockedSpans(() => busy(NAMED_BLOCK))).toBe(1);
    const blocks = reported.filter(({ durationMillis }) => durationMillis >= NAMED_BLOCK);
    expect(blocks).toHaveLength(1);
    return blocks[0];
  }

  test('false: it is not, and no thread is started', async () => {
    const started = jest.spyOn(Watchdog.prototype, 'start');
    const block = await theBlock({ captureStack: false });
    expect(block?.samples).toBe(0);
    expect(block).not.toHaveProperty('code');
    expect(started).not.toHaveBeenCalled();
    started.mockRestore();
  });
});
