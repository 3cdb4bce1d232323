/**
 * Whatever the package calls may throw: what the application brings, and what Node.js provides. The
 * application keeps running, its results stay the same, and once nothing throws any more, blocks
 * are found as before.
 */
import fs from 'node:fs';
import path from 'node:path';
import {
  type ContextManager,
  context,
  diag,
  ROOT_CONTEXT,
  type Span,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import type { EventLoopInstrumentationConfig } from '../../src/types.ts';
import { running } from '../support/thread-times.cjs';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from './support/sdk.ts';

const SRC = path.join(__dirname, '../../src') + path.sep;
const THRESHOLD_MILLIS = 5;
const BLOCK_MILLIS = 8;
/** At least one beat. */
const BEAT_MILLIS = 12;

/** The fault that is active, and how often it was reached. */
let active: string | undefined;
let reached = 0;

function fault(name: string): void {
  if (name !== active) return;
  reached++;
  throw new Error(`injected into ${name}`);
}

/** Prints what the option `console` prints. */
const CONSOLE = 'fs.writeSync';
const LOGGER = 'the logger of diag';

/** Called once, by the first session. */
const ONCE = 'vm.runInThisContext';

/** Node.js' own functions, which throw if code in `src/` calls them. */
const OF_NODE: [name: string, owner: () => object, key: string][] = [
  ['performance.now', () => Object.getPrototypeOf(performance), 'now'],
  ['process.hrtime', () => process, 'hrtime'],
  ['process.on', () => process, 'on'],
  ['process.off', () => process, 'off'],
  ['process.cwd', () => process, 'cwd'],
  [CONSOLE, () => fs, 'writeSync'],
  ['fs.readFileSync', () => fs, 'readFileSync'],
  ['timers.setTimeout', () => require('node:timers'), 'setTimeout'],
  ['timers.setInterval', () => require('node:timers'), 'setInterval'],
  ['worker_threads.Worker', () => require('node:worker_threads'), 'Worker'],
  ['async_hooks.createHook', () => require('node:async_hooks'), 'createHook'],
  [
    'async_hooks.executionAsyncResource',
    () => require('node:async_hooks'),
    'executionAsyncResource',
  ],
  [ONCE, () => require('node:vm'), 'runInThisContext'],
  ['perf_hooks.PerformanceObserver', () => require('node:perf_hooks'), 'PerformanceObserver'],
];

const isOfSource = (stack: string | undefined) => stack?.split('\n')[2]?.includes(SRC) === true;

/** Before `src/` is loaded, which takes some functions once. */
const restore = OF_NODE.map(([name, owner, key]) => {
  const target = owner() as Record<string, unknown>;
  const original = target[key] as (...args: unknown[]) => unknown;
  function broken(this: unknown, ...args: unknown[]): unknown {
    if ((name === active || name === CONSOLE) && isOfSource(new Error().stack)) {
      fault(name);
      if (name === CONSOLE) return 0; // does not print
    }
    return new.target
      ? Reflect.construct(original, args, original)
      : Reflect.apply(original, this, args);
  }
  Object.setPrototypeOf(broken, original);
  const descriptor = Object.getOwnPropertyDescriptor(target, key);
  Object.defineProperty(target, key, { value: broken, configurable: true, writable: true });
  return () => {
    if (descriptor === undefined) delete target[key];
    else Object.defineProperty(target, key, descriptor);
  };
});
const { EventLoopInstrumentation, EventLoopSpanProcessor } =
  require('../../src/index.ts') as typeof import('../../src/index.ts');

afterAll(() => {
  for (const each of restore) each();
});

/** What an application brings: the package calls it. */
const OF_APPLICATION = [
  'blockHook',
  'ignoreBlockHook',
  'inApp',
  'the tracer',
  'the end of a span',
  'the context manager',
  'the instruments of the meter',
  'the logger for events',
  LOGGER,
];

class Manager extends AsyncLocalStorageContextManager {
  override active() {
    if (isOfApi(new Error().stack)) fault('the context manager');
    return super.active();
  }
}
/** `context.active()` of this package, not of the application. */
const isOfApi = (stack: string | undefined) => stack?.includes(SRC) === true;

const exporter = new InMemorySpanExporter();
const uncaught = jest.fn();
let processor: InstanceType<typeof EventLoopSpanProcessor>;

function throwingSpan(span: Span): Span {
  return new Proxy(span, {
    get(target, key) {
      if (key === 'end') fault('the end of a span');
      const value = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** What was made for this package, by its name. */
const isOurs = (name: string) => name.startsWith('opentelemetry-instrumentation-event-loop');

beforeEach(() => {
  exporter.reset();
  processor = new EventLoopSpanProcessor();
  const provider = new TracerProvider({
    spanProcessors: [processor, new SimpleSpanProcessor({ exporter })],
  });
  const getTracer = provider.getTracer.bind(provider);
  provider.getTracer = (name, ...rest) => {
    const tracer = getTracer(name, ...rest);
    if (!isOurs(name)) return tracer;
    const startSpan = tracer.startSpan.bind(tracer);
    tracer.startSpan = (...args) => {
      fault('the tracer');
      return throwingSpan(startSpan(...args));
    };
    return tracer;
  };
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new Manager().enable() as ContextManager);
  const write = () => fault(LOGGER);
  diag.setLogger(
    { error: write, warn: write, info: write, debug() {}, verbose() {} },
    { suppressOverrideMessage: true },
  );
  process.on('uncaughtException', uncaught);
  process.on('unhandledRejection', uncaught);
});

afterEach(async () => {
  active = undefined;
  await processor.shutdown();
  process.removeListener('uncaughtException', uncaught);
  process.removeListener('unhandledRejection', uncaught);
  uncaught.mockClear();
  context.disable();
  trace.disable();
  diag.disable();
});

function create(config: EventLoopInstrumentationConfig) {
  const instrument = () => ({ record: throwing, add: throwing, addCallback() {} });
  const throwing = () => fault('the instruments of the meter');
  const instrumentation = new EventLoopInstrumentation({
    thresholdMillis: THRESHOLD_MILLIS,
    lagIntervalMillis: 5,
    blockEvents: 'all',
    enabled: false,
    blockHook: () => {
      fault('blockHook');
      if (active === LOGGER) throw new Error('which is logged');
    },
    ignoreBlockHook: () => {
      fault('ignoreBlockHook');
      return false;
    },
    inApp: () => {
      fault('inApp');
      return true;
    },
    ...config,
  });
  instrumentation.setMeterProvider({
    getMeter: () =>
      new Proxy({}, { get: () => instrument }) as unknown as ReturnType<
        typeof import('@opentelemetry/api').metrics.getMeter
      >,
  });
  instrumentation.setLoggerProvider({
    getLogger: () => ({ emit: () => fault('the logger for events'), enabled: () => true }),
  });
  return instrumentation;
}

function busy(millis = BLOCK_MILLIS): void {
  for (const goesOn = running(millis); goesOn(); );
}

const sleep = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis));

/** One of everything that leads into this package, and something that blocks. */
async function live(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
  await new Promise<void>((resolve) => process.nextTick(resolve));
  const sum = await trace.getTracer('test').startActiveSpan('host', async (span) => {
    busy();
    await null;
    busy();
    span.end();
    return 40 + 2;
  });
  expect(sum).toBe(42);
  await new Promise<void>((resolve) => setTimeout(() => resolve(busy()), 1));
  // Long enough for a stack sample, once the watchdog thread has started.
  await new Promise<void>((resolve) => setTimeout(() => resolve(busy(60)), 1));
  await sleep(BEAT_MILLIS);
}

const names = () => exporter.getFinishedSpans().map((span) => span.name);

/** @param tries a busy machine may take no stack sample in a block, and names nothing then */
async function survive(
  name: string,
  config: EventLoopInstrumentationConfig,
  tries = 1,
): Promise<void> {
  reached = 0;
  const instrumentation = create(config);
  active = name;
  try {
    instrumentation.enable();
    await Promise.race([instrumentation.ready(), sleep(300)]);
    for (let tried = 0; tried < tries && (tried === 0 || reached === 0); tried++) await live();
    instrumentation.health();
    await instrumentation.forceFlush();
    instrumentation.disable();
  } finally {
    active = undefined;
  }
  await sleep(0);
  expect(uncaught).not.toHaveBeenCalled();
  // What was broken is whole again, so nothing was left half done.
  exporter.reset();
  instrumentation.enable();
  await sleep(BEAT_MILLIS);
  await new Promise<void>((resolve) =>
    setImmediate(() => {
      context.with(ROOT_CONTEXT, () => busy());
      resolve();
    }),
  );
  await instrumentation.forceFlush();
  instrumentation.disable();
  expect(names()).toContain('event-loop-blocked');
}

const ALL = [ONCE, ...OF_APPLICATION, ...OF_NODE.map(([name]) => name).filter((n) => n !== ONCE)];

test.each(ALL)('%s throws: the application keeps running', async (name) => {
  await survive(name, { console: name === CONSOLE }, 5);
  expect({ name, reached: reached > 0 }).toEqual({ name, reached: true });
});
