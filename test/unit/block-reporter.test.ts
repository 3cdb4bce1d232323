import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  type HrTime,
  ROOT_CONTEXT,
  SpanKind,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import type { GcMeter } from '../../src/detect/gc-meter.ts';
import type { Block } from '../../src/detect/iteration-ledger.ts';
import { OnceLogger } from '../../src/once.ts';
import { BlockReporter, type ReporterOptions } from '../../src/report/block-reporter.ts';
import type { EventLoopBlock } from '../../src/types.ts';
import { captureDiag } from './support/capturing-logger.ts';
import { EPOCH, FakeClock } from './support/fake-clock.ts';
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from './support/sdk.ts';

const SUPPRESS = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const tracer = provider.getTracer('test');

afterEach(() => exporter.reset());

function setUp(options: Partial<ReporterOptions> = {}) {
  const clock = new FakeClock();
  const metrics: unknown[][] = [];
  const told: EventLoopBlock[] = [];
  const said = captureDiag();
  let gcCollected = 0;
  const targets = {
    tracer: () => tracer,
    instruments: () => ({
      lag: () => {},
      block: (...args: unknown[]) => metrics.push(['block', ...args.slice(0, 2)]),
      suppressed: () => metrics.push(['suppressed']),
    }),
    asOwnWork: (work: () => void) => work(),
    told: (block: EventLoopBlock) => void told.push(block),
  };
  const reporter = new BlockReporter(
    { requireParentSpan: false, maxSpansPerMinute: 600, blockHook: undefined, ...options },
    targets as never,
    clock,
    { collect: () => gcCollected++, within: () => 12 } as unknown as GcMeter,
    new OnceLogger(),
  );
  const report = (...blocks: Partial<Block>[]) => {
    for (const block of blocks) {
      reporter.add({
        kind: 'callback',
        start: 2000,
        end: 2150,
        callbacks: 1,
        context: ROOT_CONTEXT,
        resourceType: 'Timeout',
        cpu: 140,
        samples: [],
        own: false,
        ...block,
      });
    }
    reporter.flush();
  };
  const spans = () => exporter.getFinishedSpans().filter((s) => s.name === 'event-loop-blocked');
  return { clock, metrics, told, said, targets, reporter, report, spans, gcCollected: () => gcCollected };
}

/** A span that began at this Unix time, and its context. */
function parentAt(epochMillis: number, inside: Context = ROOT_CONTEXT) {
  const span = tracer.startSpan('parent', { startTime: new Date(epochMillis) }, inside);
  return { span, context: trace.setSpan(inside, span) };
}

const millis = ([seconds, nanos]: HrTime) => seconds * 1000 + nanos / 1e6;
const length = (span: ReadableSpan) => millis(span.duration);

test('a block is a span with explicit times and all its attributes', () => {
  const { report, spans, metrics } = setUp();
  const parent = parentAt(EPOCH + 1000);
  report({ context: parent.context });
  const [span] = spans();
  expect(span).toMatchObject({
    name: 'event-loop-blocked',
    kind: SpanKind.INTERNAL,
    parentSpanContext: { spanId: parent.span.spanContext().spanId },
    startTime: [(EPOCH + 2000) / 1000, 0],
    endTime: [(EPOCH + 2000) / 1000, 150_000_000],
    attributes: {
      'event_loop.block.kind': 'callback',
      'event_loop.block.callbacks': 1,
      'event_loop.async_resource.type': 'Timeout',
      'event_loop.block.cpu_time': 0.14,
      'event_loop.block.gc_time': 0.012,
      'thread.id': 0,
      'thread.name': 'main',
    } satisfies Attributes,
  });
  expect(span?.spanContext().traceId).toBe(parent.span.spanContext().traceId);
  expect(metrics).toEqual([['block', 150, 'callback']]);
});

test('what is not known is left out', () => {
  const { clock, report, spans } = setUp();
  clock.cpuIsOfThread = false;
  report({ kind: undefined, resourceType: undefined, context: undefined });
  expect(Object.keys(spans()[0]?.attributes ?? {}).sort()).toEqual([
    'event_loop.block.callbacks',
    'event_loop.block.gc_time',
    'thread.id',
    'thread.name',
  ]);
});

test('a child never starts before its parent', () => {
  const { report, spans } = setUp();
  report({ context: parentAt(EPOCH + 2001).context });
  expect(spans()[0]?.startTime).toEqual([(EPOCH + 2000) / 1000, 1_000_000]);
  expect(length(spans()[0] as ReadableSpan)).toBe(149);
});

test('a parent that started after the block ended gets a span of no length, not a negative one', () => {
  const { report, spans } = setUp();
  report({ context: parentAt(EPOCH + 9000).context });
  expect(length(spans()[0] as ReadableSpan)).toBe(0);
});

test('a parent that has ended keeps its child', () => {
  const { report, spans } = setUp();
  const parent = parentAt(EPOCH + 1990);
  parent.span.end(new Date(EPOCH + 2010));
  report({ context: parent.context });
  expect(spans()[0]?.parentSpanContext?.spanId).toBe(parent.span.spanContext().spanId);
  expect(length(spans()[0] as ReadableSpan)).toBe(150);
});

test('a remote parent is a parent', () => {
  const { report, spans } = setUp();
  const remote = {
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  };
  report({ context: trace.setSpanContext(ROOT_CONTEXT, remote) });
  expect(spans()[0]?.spanContext().traceId).toBe(remote.traceId);
});

test('a suppressed context gives metrics only', () => {
  const { report, spans, metrics } = setUp();
  report({ context: parentAt(EPOCH).context.setValue(SUPPRESS, true) });
  expect(spans()).toEqual([]);
  expect(metrics).toEqual([['block', 150, 'callback']]);
});

test('own work gives metrics only, at once', () => {
  const { reporter, spans, metrics } = setUp();
  reporter.add({
    kind: 'callback',
    start: 0,
    end: 100,
    callbacks: 1,
    context: ROOT_CONTEXT,
    resourceType: undefined,
    cpu: 0,
    samples: [],
    own: true,
  });
  expect(metrics).toEqual([['block', 100, 'callback']]);
  reporter.flush();
  expect(spans()).toEqual([]);
});

test('an unsampled parent gives no span, and uses up nothing of the rate limit', () => {
  const { report, spans, metrics } = setUp({ maxSpansPerMinute: 1 });
  const unsampled = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: TraceFlags.NONE };
  const inside = { context: trace.setSpanContext(ROOT_CONTEXT, unsampled) };
  report(inside, inside, {}, inside);
  expect(spans()).toHaveLength(1);
  expect(metrics.filter(([name]) => name === 'suppressed')).toEqual([]);
});

test('requireParentSpan: without a parent metrics only', () => {
  const { report, spans, metrics } = setUp({ requireParentSpan: true });
  const parent = parentAt(EPOCH);
  report({}, { context: undefined }, { context: parent.context });
  expect(spans().map((s) => s.parentSpanContext?.spanId)).toEqual([parent.span.spanContext().spanId]);
  expect(metrics).toHaveLength(3);
});

test('past the rate limit blocks count in metrics only, and it is said once', () => {
  const { clock, report, spans, metrics, said } = setUp({ maxSpansPerMinute: 2 });
  report({}, {}, {}, {});
  expect(spans()).toHaveLength(2);
  expect(metrics.filter(([name]) => name === 'suppressed')).toHaveLength(2);
  expect(metrics.filter(([name]) => name === 'block')).toHaveLength(4);
  expect(said).toEqual(['warn: more blocks than maxSpansPerMinute: the rest count in metrics only']);
  clock.run(60_000);
  report({});
  expect(spans()).toHaveLength(3);
});

test('what waits to be reported is bounded', () => {
  const { report, spans, metrics } = setUp({ maxSpansPerMinute: 60_000 });
  report(...Array(1500).fill({}));
  expect(spans()).toHaveLength(1000);
  expect(metrics.filter(([name]) => name === 'suppressed')).toHaveLength(500);
  expect(metrics.filter(([name]) => name === 'block')).toHaveLength(1500);
});

test('blocks are reported in an immediate, outside the code that blocked', async () => {
  const { reporter, spans, gcCollected } = setUp();
  reporter.add({
    kind: 'callback',
    start: 0,
    end: 100,
    callbacks: 1,
    context: ROOT_CONTEXT,
    resourceType: undefined,
    cpu: 0,
    samples: [],
    own: false,
  });
  expect(spans()).toEqual([]);
  await new Promise(setImmediate);
  expect(spans()).toHaveLength(1);
  expect(gcCollected()).toBe(1);
});

describe('blockHook', () => {
  test('is given the span and the block, and may add attributes', () => {
    let given: EventLoopBlock | undefined;
    const { report, spans } = setUp({
      blockHook: (span, block) => {
        given = block;
        span.setAttribute('team', 'checkout');
      },
    });
    report({});
    expect(given).toEqual({
      kind: 'callback',
      startTimeMillis: EPOCH + 2000,
      durationMillis: 150,
      callbacks: 1,
      asyncResourceType: 'Timeout',
      cpuTimeMillis: 140,
      samples: 0,
      gcTimeMillis: 12,
    });
    expect(spans()[0]?.attributes['team']).toBe('checkout');
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('theirs');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('theirs');
      },
    ],
  ])('that %s is logged once and swallowed', async (_how, blockHook) => {
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    const { report, spans, said } = setUp({ blockHook });
    report({}, {});
    await new Promise(setImmediate);
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
    expect(spans()).toHaveLength(2);
    expect(said).toEqual(['error: blockHook threw; ignored']);
  });
});

describe('trouble with user code is logged once, and costs no other block', () => {
  const broken = () => {
    throw new Error('theirs');
  };

  test('a tracer that throws', () => {
    const { targets, report, metrics, said } = setUp();
    targets.tracer = () => ({ startSpan: broken, startActiveSpan: broken }) as never;
    report({}, {});
    expect(metrics).toHaveLength(2);
    expect(said).toEqual(['error: cannot report a block']);
  });

  test('a meter that throws', () => {
    const { targets, report, spans, said } = setUp();
    targets.instruments = broken as never;
    report({}, {});
    expect(spans()).toHaveLength(2);
    expect(said).toEqual(['error: cannot record a metric']);
  });

  test('a span processor that throws', () => {
    const { targets, report, said } = setUp();
    const hostile = new TracerProvider({
      spanProcessors: [
        { onStart: broken, onEnd: broken, forceFlush: async () => {}, shutdown: async () => {} },
      ],
    });
    targets.tracer = () => hostile.getTracer('test');
    report({}, {});
    expect(said).toEqual(['error: cannot report a block']);
  });
});

// The real context manager is not needed here, and none may be left behind.
test('no global context manager was set', () => {
  expect(context.active()).toBe(ROOT_CONTEXT);
});

describe('a span that ends before the block is reported', () => {
  const block = (context: Context): Block => ({
    kind: 'callback',
    start: 2000,
    end: 2150,
    callbacks: 1,
    context,
    resourceType: undefined,
    cpu: 140,
    samples: [],
    own: false,
  });

  test('has the span started, which is completed when the block is reported', () => {
    const { reporter, spans } = setUp();
    const parent = parentAt(EPOCH + 1000);
    const link = reporter.add(block(parent.context), 3);
    const early = link?.spanContext();
    expect(early?.traceId).toBe(parent.span.spanContext().traceId);
    expect(link?.spanContext()).toBe(early);
    expect(spans()).toEqual([]);
    reporter.flush();
    const [span] = spans();
    expect(spans()).toHaveLength(1);
    expect(span?.spanContext().spanId).toBe(early?.spanId);
    expect(length(span as ReadableSpan)).toBeCloseTo(150);
    expect(span?.attributes).toMatchObject({
      'event_loop.block.stalled_spans': 3,
      'event_loop.block.gc_time': 0.012,
    });
  });

  test('afterwards the link leads to the same span, and keeps nothing else alive', () => {
    const { reporter, spans } = setUp();
    const link = reporter.add(block(parentAt(EPOCH + 1000).context));
    reporter.flush();
    expect(link?.spanContext()?.spanId).toBe(spans()[0]?.spanContext().spanId);
  });

  test.each([
    ['suppressed', {}, () => ROOT_CONTEXT.setValue(SUPPRESS, true)],
    ['without a parent that is required', { requireParentSpan: true }, () => ROOT_CONTEXT],
    ['past the rate limit', { maxSpansPerMinute: 0 }, () => ROOT_CONTEXT],
    [
      'unsampled',
      {},
      () =>
        trace.setSpan(
          ROOT_CONTEXT,
          trace.wrapSpanContext({
            traceId: 'a'.repeat(32),
            spanId: 'b'.repeat(16),
            traceFlags: TraceFlags.NONE,
          }),
        ),
    ],
  ])('a block that is %s has none to link to, and is told of all the same', (_what, options, context) => {
    const { reporter, spans, metrics, told } = setUp(options);
    const link = reporter.add(block(context()));
    expect(link?.spanContext()).toBeUndefined();
    reporter.flush();
    expect(link?.spanContext()).toBeUndefined();
    expect(spans()).toEqual([]);
    expect(told).toEqual([expect.objectContaining({ durationMillis: 150 })]);
    expect(metrics.filter(([name]) => name === 'suppressed')).toHaveLength(
      'maxSpansPerMinute' in options ? 1 : 0,
    );
  });

  test('own work has no link, and is not published', () => {
    const { reporter, told } = setUp();
    expect(reporter.add({ ...block(ROOT_CONTEXT), own: true })).toBeUndefined();
    reporter.flush();
    expect(told).toEqual([]);
  });
});
