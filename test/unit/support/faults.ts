/**
 * A throw anywhere in our own code leaves the host running: injected into every method, with the
 * real hooks on.
 */
import fs from 'node:fs';
import path from 'node:path';
import { context, diag, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import type * as publicApi from '../../../src/index.ts';
import type { EventLoopInstrumentationConfig } from '../../../src/types.ts';
import { running } from '../../support/thread-times.cjs';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from './sdk.ts';
import { SourceClasses } from './source-classes.ts';

const sources = new SourceClasses((name) => require(name));
const EventLoopInstrumentation = sources.get(
  'EventLoopInstrumentation',
) as unknown as typeof publicApi.EventLoopInstrumentation;
const EventLoopSpanProcessor = sources.get(
  'EventLoopSpanProcessor',
) as unknown as typeof publicApi.EventLoopSpanProcessor;

/** Into these nothing is injected. */
const NOT_INJECTED: Record<string, RegExp[]> = {
  'the host calls it, so no code of ours can catch a throw': [
    /^EventLoopInstrumentation\.(enable|disable|health|setConfig|getConfig|isEnabled)$/,
    /^EventLoopInstrumentation\.(set(Tracer|Meter|Logger)Provider|expectBlock)$/,
    /^EventLoopSpanProcessor\.(onStart|onEnding|onEnd|forceFlush|shutdown)$/,
  ],
  'it is what catches throws': [
    /^OnceLogger\./,
    /^Guard\./,
    /^\w+\._private_guarded$/,
    /^EventLoopInstrumentation\._(attempt|withSession)$/,
  ],
  'enable() and disable() call it with nothing around it': [
    /^EventLoopInstrumentation\._(start|stop)$/,
  ],
};
/** Classes of which nothing runs here: one test looks whether that is so. */
const NOT_RUN = [
  // Of `/register`.
  ...[
    'ApplicationPackages',
    'AskedModules',
    'ProcessEnd',
    'RelayTracer',
    'RelayTracerProvider',
    'SignalListener',
  ],
  // Of `/console`, and of `/testing`, whose errors are for the test.
  ...['EndSignals', 'Baseline', 'StallsByBlock'],
  // Of threads, where a throw does not reach the host.
  ...['BusyPeriod', 'CaptureBudget', 'CaptureClient', 'CaptureSchedule', 'CaptureSession'],
  'Termination',
  ...['OngoingReporter', 'ThreadSleep'],
  // Of worker threads and their watchdog thread.
  ...['OpenSessions', 'PoolWaits', 'RouteToWorker', 'SharedWatchdogThread'],
  ...['SharedSleep', 'SleepOfThread', 'WatchedThreads'],
  ...['MainThreadState', 'ProfileMoments', 'RecentUtilization'],
  ...['Elements', 'IndexedMap', 'MapFiles', 'Mappings', 'PlainMap'],
  // With the option `profileDir`.
  ...['Message', 'Numbers', 'ProfileFiles'],
  // With an HTTP server, and built-ins of this realm.
  ...['ParserMessages', 'LongCalls', 'LongCallWriter'],
  // Without async hooks, which another file has.
  'ScopeLedger',
];
/** Whether they run is left to chance: they need a stack sample of the application's code. */
const MAY_RUN = ['EntryOperation', 'LoadedText', 'Site'];
/** They run only if a stack sample is taken. */
const RUN_IN_CAPTURES = /^(Capturer|StackSamples|Watchdog|WatchdogThread|CallTree|Lru)\./;

interface Method {
  name: string;
  prototype: object;
  key: string;
}

/** Every method and accessor of every class in `src/`, private ones too. */
const METHODS: Method[] = [...sources.byName].flatMap(([className, { prototype }]) =>
  Object.getOwnPropertyNames(prototype)
    .filter((key) => key !== 'constructor')
    .map((key) => ({ name: `${className}.${key}`, prototype, key })),
);
const excepted = Object.values(NOT_INJECTED).flat();
const INJECTED = METHODS.filter(({ name }) => !excepted.some((pattern) => pattern.test(name)));

const THRESHOLD_MILLIS = 5;
const BLOCK_MILLIS = 8;
/** Long enough for a stack sample, once the watchdog thread has started. */
const CAPTURED_MILLIS = 100;
/** Blocks that are to have a stack sample, until one has. */
const MAX_CAPTURED = 5;
/** At least one beat. */
const BEAT_MILLIS = 12;

function busy(millis = BLOCK_MILLIS): void {
  for (const goesOn = running(millis); goesOn(); );
}

const blockingTimer = (millis = BLOCK_MILLIS) =>
  new Promise<void>((resolve) =>
    setTimeout(() => {
      busy(millis);
      resolve();
    }, 1),
  );

let exporter: InstanceType<typeof InMemorySpanExporter>;
let processor: publicApi.EventLoopSpanProcessor;
let uncaught: jest.Mock;

interface Message {
  /** An instrumentation and a span processor have one each. */
  logger: object;
  text: string;
}
let logged: Message[];

/** What `create` makes logs here, and nowhere else: what other tests left behind does not. */
function withOwnLoggers<Result>(create: () => Result): Result {
  const messages = logged;
  const spy = jest.spyOn(diag, 'createComponentLogger').mockImplementation(() => {
    const logger = { debug() {}, info() {}, verbose() {}, warn: write, error: write };
    function write(text: string) {
      messages.push({ logger, text });
    }
    return logger;
  });
  try {
    return create();
  } finally {
    spy.mockRestore();
  }
}

/** The messages of guarded places are literals here. */
const SRC = path.join(__dirname, '../../../src');
const SOURCE_TEXT = fs
  .readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => /(?<!\.generated)\.ts$/.test(file))
  .map((file) => fs.readFileSync(path.join(SRC, file), 'utf8'))
  .join('\n');

/** One that says what is off says why, too. */
const isInSource = (text: string) =>
  SOURCE_TEXT.includes(`'${text}'`) || SOURCE_TEXT.includes(`\`${text.split(': ')[0]}: \${`);

/** Each guarded place logs once: hundreds of throws are one message. */
function expectOneMessagePerPlace(messages: readonly Message[]): void {
  for (const { logger, text } of messages) {
    const same = messages.filter((other) => other.logger === logger && other.text === text);
    expect(same.map((each) => each.text)).toEqual([text]);
    expect({ text, isInSource: isInSource(text) }).toEqual({ text, isInSource: true });
  }
}

function setUp(): void {
  exporter = new InMemorySpanExporter();
  logged = [];
  processor = withOwnLoggers(() => new EventLoopSpanProcessor());
  trace.setGlobalTracerProvider(
    new TracerProvider({ spanProcessors: [processor, new SimpleSpanProcessor({ exporter })] }),
  );
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  uncaught = jest.fn();
  process.on('uncaughtException', uncaught);
  process.on('unhandledRejection', uncaught);
  jest.spyOn(fs, 'writeSync').mockImplementation(() => 0); // what the console prints
}

async function tearDown(): Promise<void> {
  await processor.shutdown();
  process.off('uncaughtException', uncaught);
  process.off('unhandledRejection', uncaught);
  jest.restoreAllMocks();
  context.disable();
  trace.disable();
  diag.disable();
}

/** One of everything that leads into our code, and something that blocks. */
async function live(): Promise<void> {
  const tracer = trace.getTracer('test');
  await new Promise<void>((resolve) => setTimeout(resolve, 2));
  await new Promise<void>((resolve) => setImmediate(resolve));
  await new Promise<void>((resolve) => process.nextTick(resolve));
  const sum = await tracer.startActiveSpan('host', async (span) => {
    busy();
    await null;
    busy();
    span.end();
    return 40 + 2;
  });
  expect(sum).toBe(42);
  // It waits for the block.
  const request = tracer.startSpan('request', { kind: SpanKind.SERVER });
  await blockingTimer();
  request.end();
  await new Promise<void>((resolve) => setTimeout(resolve, BEAT_MILLIS));
}

const create = (config: EventLoopInstrumentationConfig = {}) =>
  new EventLoopInstrumentation({
    thresholdMillis: THRESHOLD_MILLIS,
    lagIntervalMillis: 5,
    blockEvents: 'all',
    ...config,
  });

const names = () => exporter.getFinishedSpans().map((span) => span.name);

const classOf = (name: string) => name.slice(0, name.indexOf('.'));

const isRun = ({ name }: Method) => !NOT_RUN.includes(classOf(name));

/** The classes that run, in two parts with as many methods, for two files that run side by side. */
export function halves(): [Set<string>, Set<string>] {
  const methods = new Map<string, number>();
  for (const { name } of INJECTED.filter(isRun)) {
    methods.set(classOf(name), (methods.get(classOf(name)) ?? 0) + 1);
  }
  const parts = [new Set<string>(), new Set<string>()] as [Set<string>, Set<string>];
  const counts: [number, number] = [0, 0];
  for (const [className, count] of [...methods].sort(([, a], [, b]) => b - a)) {
    const part = counts[0] <= counts[1] ? 0 : 1;
    parts[part].add(className);
    counts[part] += count;
  }
  return parts;
}

/** Makes all of `methods` throw. Returns what undoes it. */
function injectInto(methods: Method[], onReached: (name: string) => void): () => void {
  const undo = methods.map(({ name, prototype, key }) => {
    const original = Object.getOwnPropertyDescriptor(prototype, key) as PropertyDescriptor;
    const fault = () => {
      onReached(name);
      throw new Error(`injected into ${name}`);
    };
    const faulty = original.get ? { get: fault, set: fault } : { value: fault, writable: true };
    Object.defineProperty(prototype, key, { ...faulty, configurable: true });
    return () => Object.defineProperty(prototype, key, original);
  });
  return () => {
    for (const each of undo) each();
  };
}

/**
 * The tests, in a file for each mode, and for each half of the classes.
 * @param classes whose methods throw
 */
export function testFaults(config: EventLoopInstrumentationConfig, classes: Set<string>): void {
  beforeEach(setUp);
  afterEach(tearDown);

  const reached = new Set<string>();

  test.each(INJECTED.filter(({ name }) => classes.has(classOf(name))))(
    'a throw in $name leaves the host running',
    async (method) => {
      // Until there is one, messages wait.
      diag.setLogger(
        { error() {}, warn() {}, info() {}, debug() {}, verbose() {} },
        { suppressOverrideMessage: true },
      );
      const instrumentation = withOwnLoggers(() =>
        create({ ...config, enabled: false, console: true }),
      );
      const mend = injectInto([method], (name) => reached.add(classOf(name)));
      try {
        instrumentation.enable();
        instrumentation.setLoggerProvider({ getLogger: () => ({ emit() {} }) });
        const waits = trace.getTracer('test').startSpan('waits');
        await live();
        // Whether a block has a stack sample depends on when the watchdog thread gets a CPU.
        for (let i = 0; i < MAX_CAPTURED && RUN_IN_CAPTURES.test(method.name); i++) {
          // With a fault in the start of the thread it is never ready.
          await Promise.race([
            instrumentation.ready(),
            new Promise((resolve) => setTimeout(resolve, 500)),
          ]);
          await blockingTimer(CAPTURED_MILLIS);
          if (reached.has(classOf(method.name))) break;
        }
        waits.end();
        instrumentation.health();
        instrumentation.disable();
      } finally {
        mend();
      }
      expect(uncaught).not.toHaveBeenCalled();
      expectOneMessagePerPlace(logged);
      // What was broken is whole again: blocks are found as before, so nothing was left half done.
      exporter.reset();
      instrumentation.enable();
      await new Promise<void>((resolve) => setTimeout(resolve, BEAT_MILLIS));
      await new Promise<void>((resolve) =>
        setImmediate(() => {
          context.with(ROOT_CONTEXT, () => busy());
          resolve();
        }),
      );
      await instrumentation.forceFlush();
      instrumentation.disable();
      expect(names()).toContain('event-loop-blocked');
    },
  );

  test('every class was reached', () => {
    const unreached = [...classes].filter((name) => !reached.has(name));
    expect(unreached.filter((name) => !MAY_RUN.includes(name))).toEqual([]);
  });

  test('nothing runs of the classes that are left out', async () => {
    const ran = new Set<string>();
    const mend = injectInto(
      INJECTED.filter((method) => !isRun(method) && !classes.has(classOf(method.name))),
      (name) => ran.add(name),
    );
    try {
      const instrumentation = create({ ...config, console: true });
      await live();
      await instrumentation.ready();
      await blockingTimer(CAPTURED_MILLIS);
      instrumentation.disable();
    } finally {
      mend();
    }
    expect([...ran]).toEqual([]);
  });

  test('files that are not loaded export nothing but types', () => {
    // They run when they are loaded: code of threads, entries; or there is nothing in them.
    const run = sources.notLoaded.filter((file) => !sources.isOnlyTypes(file));
    for (const file of run) expect(file).toMatch(/\.worker\.ts$|^register\.ts$|^console\.ts$/);
  });

  test('a context manager that throws when it is asked for the active context', async () => {
    const manager = new AsyncLocalStorageContextManager().enable();
    context.disable();
    context.setGlobalContextManager(manager);
    const instrumentation = create(config);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const active = jest.spyOn(manager, 'active').mockImplementation(() => {
      throw new Error('theirs');
    });
    await blockingTimer();
    await new Promise((resolve) => setTimeout(resolve, 30));
    active.mockRestore();
    instrumentation.disable();
    expect(uncaught).not.toHaveBeenCalled();
  });

  test('a diag logger that throws', async () => {
    const broken = () => {
      throw new Error('theirs');
    };
    const instrumentation = create({ ...config, blockHook: broken });
    diag.setLogger(
      { error: broken, warn: broken, info() {}, debug() {}, verbose() {} },
      { suppressOverrideMessage: true },
    );
    await live();
    instrumentation.disable();
    expect(uncaught).not.toHaveBeenCalled();
  });
}
