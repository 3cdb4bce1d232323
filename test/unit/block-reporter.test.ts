import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  type HrTime,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import type { Block } from '../../src/block.ts';
import { createOriginOf } from '../../src/name/in-app.ts';
import { OnceLogger } from '../../src/otel/diag-once.ts';
import { expectingBlocks } from '../../src/otel/expected-blocks.ts';
import type { Logger, LogRecord } from '../../src/otel/logger.ts';
import { BlockEvents } from '../../src/report/block-event.ts';
import { BlockMetrics } from '../../src/report/block-metrics.ts';
import { BlockReporter } from '../../src/report/block-reporter.ts';
import { type BlockSpanOptions, BlockSpans } from '../../src/report/block-span.ts';
import { CodeDescriber } from '../../src/report/code-describer.ts';
import { type BlockReport, isIgnored } from '../../src/report/emitter.ts';
import { type UserHookOptions, UserHooks } from '../../src/report/user-hooks.ts';
import { Guard } from '../../src/support/guard.ts';
import type { BlockEventsMode, EventLoopBlock } from '../../src/types.ts';
import { captureDiag } from './support/capturing-logger.ts';
import { EPOCH, FakeClock } from './support/fake-clock.ts';
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from './support/sdk.ts';
import { stackSample } from './support/stack-sample.ts';

const SUPPRESS = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const tracer = provider.getTracer('test');

const BLOCK: Block = {
  kind: 'callback',
  start: 2000,
  end: 2150,
  callbacks: 1,
  context: ROOT_CONTEXT,
  resourceType: 'Timeout',
  cpu: 140,
  samples: [],
  isOwnWork: false,
};

afterEach(() => exporter.reset());

interface Options extends BlockSpanOptions, UserHookOptions {
  readonly blockEvents: BlockEventsMode;
}

function setUp(options: Partial<Options> = {}) {
  const clock = new FakeClock();
  const metrics: unknown[][] = [];
  const reported: EventLoopBlock[] = [];
  const ignored: EventLoopBlock[] = [];
  const events: LogRecord[] = [];
  const logged = captureDiag();
  const log = new OnceLogger();
  let scheduled = 0;
  let reportDue = () => {};
  const sources = {
    tracer: () => tracer,
    instruments: () => ({
      lag: () => {},
      block: ({ durationMillis, kind }: EventLoopBlock) =>
        metrics.push(['block', durationMillis, kind]),
      suppressed: ({ code }: EventLoopBlock) =>
        metrics.push(['suppressed', ...(code === undefined ? [] : [code.functionName])]),
    }),
    logger: (): Logger | undefined => ({ emit: (record) => void events.push(record) }),
    gcWithin: (_start: number, _end: number) => 12,
    turnsToWait: () => 0,
  };
  const subscriber = {
    failure: 'cannot pass on a block',
    emit: (report: BlockReport) => {
      reported.push(report.block);
      if (isIgnored(report)) ignored.push(report.block);
    },
  };
  const describing = {
    originOf: createOriginOf(),
    cwd: '/app',
    gcWithin: () => Number.NaN,
    lookUp: undefined,
  };
  const given = {
    requireParentSpan: false,
    maxSpansPerMinute: 600,
    blockEvents: 'unsampled' as const,
    ...options,
  };
  const hooks = new UserHooks(given, log);
  const blockMetrics = new BlockMetrics(() => sources.instruments() as never, log);
  const reporter = new BlockReporter(
    {
      schedule: (due) => {
        scheduled++;
        reportDue = due;
      },
      gcWithin: (start, end) => sources.gcWithin(start, end),
      turnsToWait: () => sources.turnsToWait(),
    },
    {
      metrics: blockMetrics,
      spans: new BlockSpans(given, () => sources.tracer(), hooks, blockMetrics, clock),
      others: [new BlockEvents(given.blockEvents, () => sources.logger(), hooks), subscriber],
    },
    new CodeDescriber(describing, new Guard(new OnceLogger())),
    clock,
    log,
  );
  const report = (...blocks: Partial<Block>[]) => {
    for (const block of blocks) reporter.add({ ...BLOCK, ...block });
    reporter.report();
  };
  const spans = () => exporter.getFinishedSpans().filter((s) => s.name === 'event-loop-blocked');
  return {
    clock,
    metrics,
    reported,
    logged,
    ignored,
    sources,
    events,
    reporter,
    report,
    spans,
    scheduled: () => scheduled,
    turn: () => reportDue(),
  };
}

/** A span that began at this Unix time, and its context. */
function parentAt(epochMillis: number, inside: Context = ROOT_CONTEXT) {
  const span = tracer.startSpan('parent', { startTime: new Date(epochMillis) }, inside);
  return { span, context: trace.setSpan(inside, span) };
}

const millis = ([seconds, nanos]: HrTime) => seconds * 1000 + nanos / 1e6;
const length = (span: ReadableSpan) => millis(span.duration);

test.each([
  ['after a collection', 'microtasks', 1990, undefined, 'gc'],
  ['without one', 'microtasks', 1200, undefined, 'native'],
  ['in a callback', 'callback', 1990, undefined, 'native'],
  ['with JavaScript on the stack', 'microtasks', 1990, 'convert', 'native'],
] as const)('native code %s', (_where, kind, collectedAt, functionName, cause) => {
  const { sources, report, reported } = setUp();
  sources.gcWithin = (start, end) => (start <= collectedAt && collectedAt < end ? 3 : 0);
  const sample = {
    ...stackSample(2140, ROOT_CONTEXT, functionName),
    requestedAt: 2010,
    weight: 130,
  };
  report({ kind, samples: [sample] });
  expect(reported).toMatchObject([{ kind, cause, gcTimeMillis: 0 }]);
});

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

describe('the exact length of the block is an attribute of the span', () => {
  const DURATION = 'event_loop.block.duration';

  test.each([
    ['if the parent started 1 ms after the block', 2001, 0.15],
    ['if the parent started after the block ended', 9000, 0.15],
    ['and only there: not if both started together', 2000, undefined],
  ])('%s', (_where, startMillis, seconds) => {
    const { report, spans } = setUp();
    report({ context: parentAt(EPOCH + startMillis).context });
    expect(spans()[0]?.attributes[DURATION]).toBe(seconds);
  });

  test('if there is no parent, there is none', () => {
    const { report, spans } = setUp();
    report({ context: undefined });
    expect(spans()[0]?.attributes).not.toHaveProperty([DURATION]);
  });

  test('of a span that was started early', () => {
    const { reporter, spans } = setUp();
    reporter.add({ ...BLOCK, context: parentAt(EPOCH + 2030).context })?.spanContext();
    reporter.report();
    expect(spans()[0]?.attributes[DURATION]).toBe(0.15);
  });
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

test('a child does not end after a parent that ended near the end of the block', () => {
  const { report, spans } = setUp();
  const parent = parentAt(EPOCH + 1990);
  parent.span.end(new Date(EPOCH + 2147));
  report({ context: parent.context });
  expect(length(spans()[0] as ReadableSpan)).toBe(147);
  expect(spans()[0]?.attributes['event_loop.block.duration']).toBe(0.15);
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
  reporter.add({ ...BLOCK, start: 0, end: 100, isOwnWork: true });
  expect(metrics).toEqual([['block', 100, 'callback']]);
  reporter.report();
  expect(spans()).toEqual([]);
});

test('an unsampled parent gives no span, and uses up nothing of the rate limit', () => {
  const { report, spans, metrics } = setUp({ maxSpansPerMinute: 1 });
  const unsampled = {
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    traceFlags: TraceFlags.NONE,
  };
  const inside = { context: trace.setSpanContext(ROOT_CONTEXT, unsampled) };
  report(inside, inside, {}, inside);
  expect(spans()).toHaveLength(1);
  expect(metrics.filter(([name]) => name === 'suppressed')).toEqual([]);
});

test('requireParentSpan: without a parent metrics only', () => {
  const { report, spans, metrics } = setUp({ requireParentSpan: true });
  const parent = parentAt(EPOCH);
  report({}, { context: undefined }, { context: parent.context });
  expect(spans().map((s) => s.parentSpanContext?.spanId)).toEqual([
    parent.span.spanContext().spanId,
  ]);
  expect(metrics).toHaveLength(3);
});

test('past the rate limit blocks get no span, which is logged once', () => {
  const { clock, report, spans, metrics, logged } = setUp({ maxSpansPerMinute: 2 });
  report({}, {}, {}, {});
  expect(spans()).toHaveLength(2);
  expect(metrics.filter(([name]) => name === 'suppressed')).toHaveLength(2);
  expect(metrics.filter(([name]) => name === 'block')).toHaveLength(4);
  expect(logged).toEqual(['warn: more blocks than maxSpansPerMinute: the others get no span']);
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

test('an expected block that is not reported for want of room is not suppressed', () => {
  const { report, metrics } = setUp({ maxSpansPerMinute: 60_000 });
  report(...Array(1000).fill({}), { context: expectingBlocks(ROOT_CONTEXT) });
  expect(metrics.filter(([name]) => name === 'suppressed')).toEqual([]);
  expect(metrics).toHaveLength(1001);
});

test('a block asks once to be reported soon, and nothing is reported before', () => {
  const { reporter, report, spans, scheduled } = setUp();
  reporter.add(BLOCK);
  reporter.add(BLOCK);
  expect(scheduled()).toBe(1);
  expect(spans()).toEqual([]);
  reporter.report();
  expect(spans()).toHaveLength(2);
  report({});
  expect(scheduled()).toBe(2);
});

test('a block waits for entry spans to begin: two turns, and two more after each that does', () => {
  const { sources, reporter, spans, scheduled, clock, turn } = setUp();
  clock.time = 2150;
  sources.turnsToWait = () => 2;
  const span = reporter.add(BLOCK, 0);
  for (let i = 0; i < 2; i++) turn();
  span?.addQueued();
  for (let i = 0; i < 2; i++) turn();
  expect(reporter.isWaiting).toBe(true);
  expect(spans()).toEqual([]);
  turn();
  expect(reporter.isWaiting).toBe(false);
  expect(spans().map((s) => s.attributes['event_loop.block.queued_spans'])).toEqual([1]);
  expect(scheduled()).toBe(5);
});

test('a block waits for entry spans for a second at most', () => {
  const { sources, reporter, spans, clock, turn } = setUp();
  sources.turnsToWait = () => 2;
  reporter.add(BLOCK, 0);
  clock.time = 3150;
  turn();
  expect(spans()).toEqual([]);
  clock.time = 3151;
  turn();
  expect(spans()).toHaveLength(1);
});

test('own work does not ask to be reported', () => {
  const { reporter, scheduled } = setUp();
  reporter.add({ ...BLOCK, isOwnWork: true });
  expect(scheduled()).toBe(0);
});

test('garbage collection is asked for when blocks are reported, within the block', () => {
  const { sources, reporter } = setUp();
  const gcWithin = jest.spyOn(sources, 'gcWithin');
  reporter.add(BLOCK)?.spanContext();
  expect(gcWithin).not.toHaveBeenCalled();
  reporter.report();
  expect(gcWithin.mock.calls).toEqual([[2000, 2150]]);
});

test.each([
  ['that is not known', () => Number.NaN, []],
  [
    'that cannot be read',
    () => {
      throw new Error('broken');
    },
    ['error: cannot read garbage collection times'],
  ],
])('garbage collection %s is left out', (_what, gcWithin, expected) => {
  const { sources, report, spans, logged } = setUp();
  sources.gcWithin = gcWithin;
  report({}, {});
  expect(spans()).toHaveLength(2);
  expect(spans()[0]?.attributes).not.toHaveProperty(['event_loop.block.gc_time']);
  expect(logged).toEqual(expected);
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
    const { report, spans, logged } = setUp({ blockHook });
    report({}, {});
    await new Promise(setImmediate);
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
    expect(spans()).toHaveLength(2);
    expect(logged).toEqual(['error: blockHook threw; ignored']);
  });
});

describe('an error in user code is logged once, and every other block is reported', () => {
  const broken = () => {
    throw new Error('theirs');
  };

  test('a tracer that throws', () => {
    const { sources, report, metrics, logged } = setUp();
    sources.tracer = () => ({ startSpan: broken, startActiveSpan: broken }) as never;
    report({}, {});
    expect(metrics).toHaveLength(2);
    expect(logged).toEqual(['error: cannot report a block']);
  });

  test('a meter that throws', () => {
    const { sources, report, spans, logged } = setUp();
    sources.instruments = broken as never;
    report({}, {});
    expect(spans()).toHaveLength(2);
    expect(logged).toEqual(['error: cannot record a metric']);
  });

  test('a span processor that throws', () => {
    const { sources, report, logged } = setUp();
    const hostile = new TracerProvider({
      spanProcessors: [
        { onStart: broken, onEnd: broken, forceFlush: async () => {}, shutdown: async () => {} },
      ],
    });
    sources.tracer = () => hostile.getTracer('test');
    report({}, {});
    expect(logged).toEqual(['error: cannot report a block']);
  });
});

// The real context manager is not needed here, and none may be left behind.
test('no global context manager was set', () => {
  expect(context.active()).toBe(ROOT_CONTEXT);
});

describe('a span that ends before the block is reported', () => {
  const block = (context: Context): Block => ({ ...BLOCK, context });

  test('has the span started, which is completed when the block is reported', () => {
    const { reporter, spans } = setUp();
    const parent = parentAt(EPOCH + 1000);
    const pending = reporter.add(block(parent.context), 3);
    const early = pending?.spanContext();
    expect(early?.traceId).toBe(parent.span.spanContext().traceId);
    expect(pending?.spanContext()).toBe(early);
    expect(spans()).toEqual([]);
    reporter.report();
    const [span] = spans();
    expect(spans()).toHaveLength(1);
    expect(span?.spanContext().spanId).toBe(early?.spanId);
    expect(length(span as ReadableSpan)).toBeCloseTo(150);
    expect(span?.attributes).toMatchObject({
      'event_loop.block.stalled_spans': 3,
      'event_loop.block.gc_time': 0.012,
    });
  });

  test('does not wait for the code to be named: that is done when the block is reported', () => {
    const { reporter, spans } = setUp();
    let read = 0;
    const samples = [
      {
        ...stackSample(2140, ROOT_CONTEXT),
        weight: 130,
        get frames() {
          read++;
          return stackSample(2140, ROOT_CONTEXT, 'render').frames;
        },
      },
    ];
    const pending = reporter.add({ ...block(ROOT_CONTEXT), samples });
    expect(pending.spanContext()).toBeDefined();
    expect(read).toBe(0);
    reporter.report();
    expect(spans().map(({ attributes }) => attributes)).toEqual([
      expect.objectContaining({ 'code.function.name': 'render' }),
    ]);
  });

  test('past the rate limit, has none until the function is known, which may be new', () => {
    const { reporter, spans, metrics } = setUp({ maxSpansPerMinute: 1 });
    const named = (name: string) => {
      const samples = [{ ...stackSample(2140, ROOT_CONTEXT, name), weight: 130 }];
      return reporter.add({ ...block(ROOT_CONTEXT), samples });
    };
    const [first, second, again] = ['one', 'other', 'one'].map(named);
    expect(first?.spanContext()).toBeDefined();
    expect(second?.spanContext()).toBeUndefined();
    expect(again?.spanContext()).toBeUndefined();
    reporter.report();
    const names = spans().map(({ attributes }) => attributes['code.function.name']);
    expect(names).toEqual(['one', 'other']);
    expect(metrics).toContainEqual(['suppressed', 'one']);
  });

  test('has the same span context after the block is reported', () => {
    const { reporter, spans } = setUp();
    const span = reporter.add(block(parentAt(EPOCH + 1000).context));
    reporter.report();
    expect(span?.spanContext()?.spanId).toBe(spans()[0]?.spanContext().spanId);
  });

  test('has the hook called once, with the complete block, on the span that was started early', () => {
    const blockHook = jest.fn();
    const { reporter, spans } = setUp({ blockHook });
    const early = reporter.add(block(ROOT_CONTEXT), 3)?.spanContext();
    expect(blockHook).not.toHaveBeenCalled();
    reporter.report();
    expect(blockHook.mock.calls).toEqual([
      [expect.anything(), expect.objectContaining({ stalledSpans: 3, gcTimeMillis: 12 })],
    ]);
    expect(spans()[0]?.spanContext().spanId).toBe(early?.spanId);
  });

  test('takes its place in the rate limit once', () => {
    const { reporter, spans, metrics } = setUp({ maxSpansPerMinute: 2 });
    for (const span of [reporter.add(BLOCK), reporter.add(BLOCK)]) {
      span?.spanContext();
      span?.spanContext();
    }
    reporter.report();
    expect(spans()).toHaveLength(2);
    expect(metrics.filter(([name]) => name === 'suppressed')).toEqual([]);
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
  ])(
    'a block that is %s has none to link to, and is reported all the same',
    (_what, options, context) => {
      const { reporter, spans, metrics, reported } = setUp(options);
      const span = reporter.add(block(context()));
      expect(span?.spanContext()).toBeUndefined();
      reporter.report();
      expect(span?.spanContext()).toBeUndefined();
      expect(spans()).toEqual([]);
      expect(reported).toEqual([expect.objectContaining({ durationMillis: 150 })]);
      expect(metrics.filter(([name]) => name === 'suppressed')).toHaveLength(
        'maxSpansPerMinute' in options ? 1 : 0,
      );
    },
  );

  test('own work has no span to link to, and is not passed on', () => {
    const { reporter, reported } = setUp();
    expect(reporter.add({ ...block(ROOT_CONTEXT), isOwnWork: true }).spanContext()).toBeUndefined();
    reporter.report();
    expect(reported).toEqual([]);
  });
});

describe('events', () => {
  const SAMPLED = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 };
  const unsampled = trace.setSpanContext(ROOT_CONTEXT, { ...SAMPLED, traceFlags: 0 });
  const where = `unknown code of a Timeout, trace ${SAMPLED.traceId}`;
  const LINE = `event-loop-blocked 150 ms callback: ${where}`;
  const sampled = trace.setSpanContext(ROOT_CONTEXT, SAMPLED);
  const noop = new ProxyTracerProvider().getTracer('none');

  test('a block of a trace that is not sampled is an event, with all that its span would have', () => {
    const { report, spans, events } = setUp();
    report({ context: unsampled });
    report({});
    const [span] = spans();
    expect(spans()).toHaveLength(1);
    expect(events).toEqual([
      {
        eventName: 'event_loop.blocked',
        severityNumber: 13,
        severityText: 'WARN',
        timestamp: [(EPOCH + 2000) / 1000, 0],
        body: LINE,
        attributes: { ...span?.attributes, 'event_loop.block.duration': 0.15 },
        context: unsampled,
      },
    ]);
  });

  test('blockHook sets attributes of an event as it does those of a span', () => {
    const blockHook = (span: Span) => {
      span.setAttribute('event_loop.block.kind', 'redacted').setAttributes({ tenant: 'a' });
      span.setAttribute('event_loop.block.callbacks', undefined as never);
    };
    const { report, spans, events } = setUp({ blockHook });
    report({ context: unsampled });
    report({});
    const redacted = {
      'event_loop.block.kind': 'redacted',
      'event_loop.block.callbacks': 1,
      tenant: 'a',
    };
    expect(spans()).toMatchObject([{ attributes: redacted }]);
    // The line for people has what the hook has replaced.
    expect(events).toMatchObject([
      { attributes: redacted, body: 'event-loop-blocked 150 ms callback' },
    ]);
  });

  test('a blockHook that only adds leaves the body of an event, and gets the ids of its trace', () => {
    const seen: unknown[] = [];
    const blockHook = (span: Span) => {
      seen.push([span.isRecording(), span.spanContext().traceId]);
      span.setAttribute('tenant', 'a');
    };
    const { report, events } = setUp({ blockHook });
    report({ context: unsampled });
    expect(events).toMatchObject([{ attributes: { tenant: 'a' }, body: LINE }]);
    expect(seen).toEqual([[true, SAMPLED.traceId]]);
  });

  test('a blockHook that throws does not lose the event', () => {
    const blockHook = () => {
      throw new Error('in the hook');
    };
    const { report, events } = setUp({ blockHook });
    report({ context: unsampled });
    expect(events).toHaveLength(1);
  });

  test.each<[string, Partial<Options>, Partial<Block>]>([
    ['past the rate limit', { maxSpansPerMinute: 0 }, { context: sampled }],
    ['without a parent that is required', { requireParentSpan: true }, {}],
  ])('a block %s is an event, unless they are off', (_what, options, block) => {
    const { report, spans, events } = setUp(options);
    report(block);
    const off = setUp({ ...options, blockEvents: 'off' });
    off.report(block);
    expect(spans()).toEqual([]);
    expect(events).toMatchObject([{ context: block.context ?? ROOT_CONTEXT }]);
    expect(off.events).toEqual([]);
  });

  test('without an SDK for traces all blocks are events', () => {
    const { sources, report, events } = setUp();
    sources.tracer = () => noop;
    report({}, { context: sampled });
    expect(events.map(({ context }) => context)).toEqual([ROOT_CONTEXT, sampled]);
  });

  test('a span that is recorded, but not sampled, is not exported: an event', () => {
    const { sources, report, spans, events } = setUp();
    const recordOnly = new TracerProvider({
      sampler: { shouldSample: () => ({ decision: 1 }), toString: () => 'record only' },
      spanProcessors: [new SimpleSpanProcessor({ exporter })],
    });
    sources.tracer = () => recordOnly.getTracer('test');
    report({});
    expect(spans()).toEqual([]);
    expect(events).toHaveLength(1);
  });

  test("'all': blocks with a span too", () => {
    const { report, spans, events } = setUp({ blockEvents: 'all' });
    report({ context: sampled }, { context: unsampled });
    expect(spans()).toHaveLength(1);
    expect(events.map(({ context }) => context)).toEqual([sampled, unsampled]);
  });

  test('a block whose span was started early is no event, and one that had none is one', () => {
    const { reporter, spans, events } = setUp();
    reporter.add({ ...BLOCK, context: sampled })?.spanContext();
    reporter.add({ ...BLOCK, context: unsampled })?.spanContext();
    expect(events).toEqual([]);
    reporter.report();
    expect(spans()).toHaveLength(1);
    expect(events.map(({ context }) => context)).toEqual([unsampled]);
  });

  test.each<[string, Partial<Block>]>([
    ['suppressed tracing', { context: unsampled.setValue(SUPPRESS, true) }],
    ['work of this package', { isOwnWork: true }],
  ])('%s is none', (_what, block) => {
    const { report, events } = setUp({ blockEvents: 'all' });
    report(block);
    expect(events).toEqual([]);
  });

  test('without a logger, or if the logger drops it, nothing is made of it', () => {
    const { sources, report, logged } = setUp({ blockEvents: 'all' });
    const enabled = jest.fn(() => false);
    const emit = jest.fn();
    sources.logger = () => undefined;
    report({});
    sources.logger = () => ({ enabled, emit });
    report({ context: sampled });
    expect(enabled.mock.calls).toEqual([
      [{ eventName: 'event_loop.blocked', severityNumber: 13, context: sampled }],
    ]);
    expect([emit.mock.calls, logged]).toEqual([[], []]);
  });

  test.each(['getter', 'emit'])('a %s that throws is logged once', (what) => {
    const { sources, report, reported, logged } = setUp({ maxSpansPerMinute: 0 });
    const broken = () => {
      throw new Error('theirs');
    };
    if (what === 'getter') sources.logger = broken;
    if (what === 'emit') sources.logger = () => ({ emit: broken });
    report({}, {});
    expect(reported).toHaveLength(2);
    expect(logged.filter((message) => message.startsWith('error'))).toEqual([
      'error: cannot emit a block',
    ]);
  });

  test('of 1000 blocks, one in a hundred sampled, 1000 are in spans or events, once', () => {
    const { report, spans, events } = setUp();
    for (let i = 0; i < 1000; i++) report({ context: i % 100 === 0 ? sampled : unsampled });
    expect(spans()).toHaveLength(10);
    expect(events).toHaveLength(990);
  });
});

describe('blocks that are not wanted', () => {
  const hooked = (ignoreBlockHook: (block: EventLoopBlock) => unknown) =>
    setUp({ blockEvents: 'all', ignoreBlockHook: ignoreBlockHook as never });

  test('ignoreBlockHook: neither span nor event; metrics count it', () => {
    const { report, spans, events, metrics, ignored } = hooked(
      ({ durationMillis }) => durationMillis > 200,
    );
    report({}, { end: 2300 });
    expect(spans()).toHaveLength(1);
    expect(events).toHaveLength(1);
    expect(metrics).toEqual([
      ['block', 150, 'callback'],
      ['block', 300, 'callback'],
    ]);
    expect(ignored).toMatchObject([{ durationMillis: 300 }]);
  });

  test('ignoreBlockHook is asked once, when all is known, also if a span was started early', () => {
    const ignoreBlockHook = jest.fn(() => true);
    const { reporter, spans, events, ignored } = hooked(ignoreBlockHook);
    const pending = reporter.add(BLOCK);
    pending.spanContext();
    expect(ignoreBlockHook).not.toHaveBeenCalled();
    reporter.report();
    const known = expect.objectContaining({ gcTimeMillis: 12 });
    expect(ignoreBlockHook.mock.calls).toEqual([[known]]);
    expect([spans(), events, ignored]).toEqual([[], [], [known]]);
    expect(pending.spanContext()).toBeUndefined();
  });

  test('ignoreBlockHook: they take nothing of the rate limit', () => {
    const ignoreBlockHook = ({ durationMillis }: EventLoopBlock) => durationMillis > 200;
    const { report, spans } = setUp({ maxSpansPerMinute: 1, ignoreBlockHook });
    report({ end: 2300 }, { end: 2300 }, {});
    expect(spans()).toHaveLength(1);
  });

  test('nor does one whose span was started early', () => {
    const ignoreBlockHook = ({ durationMillis }: EventLoopBlock) => durationMillis > 200;
    const { reporter, report, spans } = setUp({ maxSpansPerMinute: 1, ignoreBlockHook });
    expect(reporter.add({ ...BLOCK, end: 2300 }).spanContext()).toBeDefined();
    reporter.report();
    report({});
    expect(spans()).toHaveLength(1);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('theirs');
      },
      ['error: ignoreBlockHook threw; ignored'],
    ],
    [
      'rejects',
      async () => {
        throw new Error('theirs');
      },
      ['error: ignoreBlockHook threw; ignored'],
    ],
    ['returns what is not true', () => 1, []],
  ])('ignoreBlockHook that %s counts as false', async (_how, ignoreBlockHook, expected) => {
    const { report, spans, logged } = hooked(ignoreBlockHook);
    report({}, {});
    await new Promise(setImmediate);
    expect(spans()).toHaveLength(2);
    expect(logged).toEqual(expected);
  });

  test('an expected block: neither span nor event, and it is not suppressed', () => {
    const { report, spans, events, metrics, ignored, reported } = setUp({
      blockEvents: 'all',
      maxSpansPerMinute: 0,
    });
    report({ context: expectingBlocks(parentAt(EPOCH).context) });
    expect([spans(), events]).toEqual([[], []]);
    expect(metrics).toEqual([['block', 150, 'callback']]);
    expect(ignored).toMatchObject([{ expected: true }]);
    expect(reported).toEqual(ignored);
  });
});

test('past the rate limit: the metric names the function, and a new function has its span', () => {
  const { report, spans, metrics } = setUp({ maxSpansPerMinute: 1 });
  const running = (functionName: string) => ({
    samples: [{ ...stackSample(2100, ROOT_CONTEXT, functionName), weight: 150 }],
  });
  report(running('known'), running('known'), running('new'), running('new'));
  expect(spans().map(({ attributes }) => attributes['code.function.name'])).toEqual([
    'known',
    'new',
  ]);
  expect(metrics.filter(([name]) => name === 'suppressed')).toEqual([
    ['suppressed', 'known'],
    ['suppressed', 'new'],
  ]);
});
