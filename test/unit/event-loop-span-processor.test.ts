import {
  type HrTime,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import type { Block } from '../../src/block.ts';
import { EventLoopSpanProcessor } from '../../src/core/stalls/event-loop-span-processor.ts';
import { MAX_OPEN_SPANS } from '../../src/core/stalls/open-spans.ts';
import { type StallSession, stallsOfThread } from '../../src/core/stalls/stalls.ts';
import { toHrTime } from '../../src/otel/hr-time.ts';
import { captureDiag } from './support/capturing-logger.ts';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from './support/sdk.ts';
import { stallSession } from './support/stall-session.ts';

/** Unix time. Each test has an hour of its own: blocks are remembered from one to the next. */
let now = 1_700_000_000_000;

class Scene {
  readonly start = now;
  readonly logged = captureDiag();
  readonly stalls = stallsOfThread();
  readonly exporter = new InMemorySpanExporter();
  readonly provider: InstanceType<typeof TracerProvider>;
  readonly processor = new EventLoopSpanProcessor();
  readonly entrySpans: number[] = [];
  pileUp: ReturnType<StallSession['ongoingPileUp']>;
  begin = { iteration: 0, idle: 0, taskStart: Number.NaN };
  readonly session = stallSession({
    clock: {
      epoch: (time) => time,
      loopCount: () => this.begin.iteration,
      waited: () => this.begin.idle,
    },
    ongoingPileUp: () => this.pileUp,
    taskStart: () => this.begin.taskStart,
    stalled: (millis) => void this.entrySpans.push(millis),
  });

  constructor() {
    const spanProcessors = [
      this.processor,
      new SimpleSpanProcessor({ exporter: this.exporter }),
    ] as never[];
    this.provider = new TracerProvider({ spanProcessors });
    this.stalls.start(this.session);
    now += 3_600_000;
  }

  at(millis: number): HrTime {
    return toHrTime(this.start + millis);
  }

  startSpan(name: string, millis: number, parent?: Span, kind = SpanKind.INTERNAL): Span {
    const context = parent ? trace.setSpan(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
    return this.provider
      .getTracer('app')
      .startSpan(name, { startTime: this.at(millis), kind }, context);
  }

  /** A block that has just ended; returns how many spans it stalled. */
  block(
    start: number,
    end: number,
    blocking?: Span,
    spanContext?: SpanContext,
    ran: readonly (readonly [Span, number])[] = [],
  ): number | undefined {
    const context = blocking && trace.setSpan(ROOT_CONTEXT, blocking);
    const spans = this.stalls.spansAt(
      blockOf({ start: this.start + start, end: this.start + end, context, ran: runsOf(ran) }),
    );
    spans?.add(blockSpan(spanContext));
    return spans?.stalledSpans;
  }

  /** Ends it, and gives what was exported. */
  end(span: Span, millis: number) {
    span.end(this.at(millis));
    const { spanId } = span.spanContext();
    const exported = this.exporter
      .getFinishedSpans()
      .find((s) => s.spanContext().spanId === spanId);
    return {
      stall: exported?.attributes['event_loop.stall.duration'],
      incomplete: exported?.attributes['event_loop.stall.incomplete'],
      links: exported?.links,
    };
  }
}

const blockOf = (block: Pick<Block, 'start' | 'end'> & Partial<Block>): Block => ({
  kind: 'pile-up',
  callbacks: 1,
  context: undefined,
  resourceType: undefined,
  cpu: 0,
  samples: [],
  isOwnWork: false,
  ...block,
});

const blockSpan = (spanContext: SpanContext | undefined, addQueued = () => {}) => ({
  spanContext: () => spanContext,
  addQueued,
  onReported: () => {},
});

const runsOf = (ran: readonly (readonly [Span, number])[]) =>
  ran.map(([span, millis]) => ({ context: trace.setSpan(ROOT_CONTEXT, span), millis }));

const scenes: Scene[] = [];
const scene = () => {
  const made = new Scene();
  scenes.push(made);
  return made;
};
afterEach(async () => {
  for (const { provider, stalls, session } of scenes.splice(0)) {
    await provider.shutdown();
    stalls.stop(session);
  }
});

const someSpan = (id: string): SpanContext => ({
  traceId: id.repeat(32),
  spanId: id.repeat(16),
  traceFlags: TraceFlags.SAMPLED,
});

test('a stalled span says how long it was stalled, and links to the block', () => {
  const s = scene();
  const blocking = s.startSpan('blocking', 0);
  const stalled = s.startSpan('stalled', 50);
  s.block(100, 400, blocking, someSpan('a'));
  expect(s.end(stalled, 450)).toEqual({
    stall: 0.3,
    incomplete: undefined,
    links: [
      expect.objectContaining({
        context: someSpan('a'),
        attributes: { 'event_loop.link.type': 'blocked_by' },
      }),
    ],
  });
  expect(s.end(blocking, 500)).toMatchObject({ stall: undefined, links: [] });
});

test('a request that ran for a part of a pile-up waited for the others of it', () => {
  const s = scene();
  const one = s.startSpan('one', 0);
  const another = s.startSpan('another', 0);
  const handler = s.startSpan('handler', 0, another);
  const ran = [
    [one, 70],
    [handler, 50],
  ] as const;
  s.block(100, 220, one, someSpan('a'), ran);
  expect(s.end(one, 300).stall).toBeUndefined();
  expect(s.end(handler, 300).stall).toBe(0.07);
  expect(s.end(another, 300).stall).toBe(0.07);
});

describe('entry spans that begin right after a block', () => {
  const blocked = (s: Scene) => {
    s.begin = { iteration: 8, idle: 90, taskStart: s.start + 501 };
    const counted: string[] = [];
    const block = blockOf({ start: s.start + 100, end: s.start + 500, waitedSince: 0 });
    const span = blockSpan(someSpan('a'), () => void counted.push('one'));
    s.stalls.spansAt(block)?.add(span);
    return counted;
  };

  test('and are stalled by another one link to both', () => {
    const s = scene();
    blocked(s);
    const span = s.startSpan('server', 501, undefined, SpanKind.SERVER);
    s.block(600, 700, undefined, someSpan('c'));
    const { stall, links } = s.end(span, 800);
    expect(stall).toBe(0.1);
    expect(links?.map(({ context }) => context)).toEqual([someSpan('c'), someSpan('a')]);
  });
});

test('with a meter that throws, the span has its attributes', () => {
  const s = scene();
  s.session.stalled = () => {
    throw new Error('meter');
  };
  const span = s.startSpan('slow', 0, undefined, SpanKind.SERVER);
  s.block(100, 300);
  expect(s.end(span, 400).stall).toBe(0.2);
  expect(s.logged).toHaveLength(1);
});

test('spans that never end are bounded in number, and a forgotten one still says how long it was stalled', () => {
  const s = scene();
  const first = s.startSpan('first', 0);
  for (let i = 0; i < MAX_OPEN_SPANS; i++) s.startSpan('never ended', 1);
  expect(s.block(100, 300)).toBe(MAX_OPEN_SPANS);
  expect(s.end(first, 400).stall).toBe(0.2);
});

test('spans that have ended are forgotten', () => {
  const s = scene();
  // It would be forgotten itself if those that end later were kept.
  const open = s.startSpan('open', 1);
  for (let i = 0; i < MAX_OPEN_SPANS; i++) s.startSpan('short', 1).end(s.at(2));
  expect(s.block(100, 300)).toBe(1);
  expect(s.end(open, 400).stall).toBe(0.2);
});

test('a shutdown reports what waits, before other processors shut down; a flush does not block for it', async () => {
  const asked: string[] = [];
  const processor = new EventLoopSpanProcessor();
  const session = stallSession({
    report: async () => void asked.push('report'),
    settle: () => void asked.push('settle'),
  });
  stallsOfThread().start(session);
  const flushed = processor.forceFlush();
  expect(asked).toEqual(['report']);
  const down = processor.shutdown();
  expect(asked).toEqual(['report', 'settle']);
  await Promise.all([flushed, down]);
  stallsOfThread().stop(session);
});
