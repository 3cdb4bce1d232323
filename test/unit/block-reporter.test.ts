import {
  type Context,
  type HrTime,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  trace,
} from '@opentelemetry/api';
import type { Block } from '../../src/block.ts';
import { BlockEvents } from '../../src/core/emit/block-event.ts';
import { BlockMetrics } from '../../src/core/emit/block-metrics.ts';
import { BlockReporter } from '../../src/core/emit/block-reporter.ts';
import { BlockSpans } from '../../src/core/emit/block-span.ts';
import { type BlockReport, isIgnored } from '../../src/core/emit/emitter.ts';
import { UserHooks } from '../../src/core/emit/user-hooks.ts';
import { describeCode } from '../../src/core/explain/name/describe-code.ts';
import { createOriginOf } from '../../src/core/explain/name/in-app.ts';
import { OnceLogger } from '../../src/otel/diag-once.ts';
import type { Logger, LogRecord } from '../../src/otel/logger.ts';
import type { EventLoopBlock, EventLoopInstrumentationConfig } from '../../src/types.ts';
import { captureDiag } from './support/capturing-logger.ts';
import { EPOCH, FakeClock } from './support/fake-clock.ts';
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from './support/sdk.ts';
import { stackSample } from './support/stack-sample.ts';

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

function setUp(options: Omit<EventLoopInstrumentationConfig, 'enabled'> = {}) {
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
  const describing = { originOf: createOriginOf(), cwd: '/app' };
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
    ({ samples, start, end }, done) => done(describeCode(samples, start, end, describing), samples),
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

describe('the exact length of the block is an attribute of the span', () => {
  const DURATION = 'event_loop.block.duration';

  test('of a span whose ids were promised', () => {
    const { reporter, spans } = setUp();
    reporter.add({ ...BLOCK, context: parentAt(EPOCH + 2030).context })?.spanContext();
    reporter.report();
    expect(spans()[0]?.attributes[DURATION]).toBe(0.15);
  });
});

test('a child does not end after a parent that ended near the end of the block', () => {
  const { report, spans } = setUp();
  const parent = parentAt(EPOCH + 1990);
  parent.span.end(new Date(EPOCH + 2147));
  report({ context: parent.context });
  expect(length(spans()[0] as ReadableSpan)).toBe(147);
  expect(spans()[0]?.attributes['event_loop.block.duration']).toBe(0.15);
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

describe('a span that ends before the block is reported', () => {
  const block = (context: Context): Block => ({ ...BLOCK, context });

  test('takes its place in the rate limit before its function is known', () => {
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
    expect(names).toEqual(['one']);
    expect(metrics).toContainEqual(['suppressed', 'other']);
    expect(metrics).toContainEqual(['suppressed', 'one']);
  });

  /** With an SDK of its own, which samples by this. */
  function setUpSdk(sampler: object | undefined, ...options: Parameters<typeof setUp>) {
    const asked: unknown[] = [];
    const open = new Set<string>();
    const counting = {
      onStart: (span: Span) => void open.add(span.spanContext().spanId),
      onEnd: (span: Span) => void open.delete(span.spanContext().spanId),
      forceFlush: async () => {},
      shutdown: async () => {},
    };
    const sdk = new TracerProvider({
      spanProcessors: [counting, new SimpleSpanProcessor({ exporter })] as never[],
      ...(sampler && {
        sampler: {
          shouldSample: (...args: unknown[]) => {
            asked.push(args);
            return sampler;
          },
        } as never,
      }),
    });
    const own = sdk.getTracer('test');
    const set = setUp(...options);
    set.sources.tracer = () => own;
    return { ...set, open, asked };
  }
  const linkOf = (reporter: ReturnType<typeof setUp>['reporter'], context = ROOT_CONTEXT) =>
    reporter.add(block(context)).spanContext();

  test('links to the ids with which the span starts afterwards, once, and complete', () => {
    const { reporter, spans, open } = setUpSdk(undefined);
    const parent = parentAt(EPOCH + 1000);
    const link = reporter.add(block(parent.context));
    const [child, root] = [link.spanContext(), linkOf(reporter)];
    expect(link.spanContext()).toEqual(child);
    expect(child?.traceId).toBe(parent.span.spanContext().traceId);
    expect([spans(), open.size]).toEqual([[], 0]);
    reporter.report();
    expect(spans().map((span) => span.spanContext())).toEqual([child, root]);
    expect(spans()[0]?.parentSpanContext?.spanId).toBe(parent.span.spanContext().spanId);
    expect(link.spanContext()).toEqual(child);
    // It is no tracer for further spans.
    const further = reporter.add(block(parent.context));
    reporter.report();
    expect(further.spanContext()?.spanId).not.toBe(child?.spanId);
    expect(open.size).toBe(0);
  });

  test.each([
    ['ignored', { ignoreBlockHook: () => true }],
    ['past the limit', { maxSpansPerMinute: 1 }],
  ])('no span begins that does not end: %s', (_, options) => {
    const { reporter, open, spans } = setUpSdk(undefined, options);
    const started = jest.spyOn(open, 'add');
    for (let i = 0; i < 5; i++) linkOf(reporter);
    reporter.report();
    expect(open.size).toBe(0);
    expect(started).toHaveBeenCalledTimes(spans().length);
  });

  test('of a trace that is not sampled links to nothing, and a sampler is asked once', () => {
    const dropping = setUpSdk({ decision: 0 });
    expect(linkOf(dropping.reporter)).toBeUndefined();
    dropping.reporter.report();
    expect(dropping.spans()).toEqual([]);

    const sampling = setUpSdk({ decision: 2, attributes: { by: 'sampler' } });
    const link = linkOf(sampling.reporter);
    sampling.reporter.report();
    expect(sampling.asked).toHaveLength(1);
    expect(sampling.spans()).toMatchObject([{ attributes: { by: 'sampler' } }]);
    expect(sampling.spans()[0]?.spanContext()).toEqual(link);
  });

  test('of an SDK that cannot start a span with given ids links to nothing', () => {
    const { sources, reporter, spans } = setUp();
    sources.tracer = () => ({ startSpan: tracer.startSpan.bind(tracer) }) as never;
    const link = reporter.add(block(ROOT_CONTEXT));
    expect(link.spanContext()).toBeUndefined();
    reporter.report();
    expect(link.spanContext()).toEqual(spans()[0]?.spanContext());
  });
});

describe('events', () => {
  const SAMPLED = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 };
  const unsampled = trace.setSpanContext(ROOT_CONTEXT, { ...SAMPLED, traceFlags: 0 });
  const sampled = trace.setSpanContext(ROOT_CONTEXT, SAMPLED);
  const noop = new ProxyTracerProvider().getTracer('none');

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
});

describe('blocks that are not wanted', () => {
  const hooked = (ignoreBlockHook: (block: EventLoopBlock) => unknown) =>
    setUp({ blockEvents: 'all', ignoreBlockHook: ignoreBlockHook as never });

  test('ignoreBlockHook is asked once, when all is known, also if a span was promised', () => {
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
});
