/** In an overload the work for each span is constant: it is counted here, not timed. */
import { ROOT_CONTEXT, type Span, SpanKind, trace } from '@opentelemetry/api';
import { toHrTime } from '../../src/otel/hr-time.ts';
import { EventLoopSpanProcessor } from '../../src/stall/event-loop-span-processor.ts';
import { OpenSpans } from '../../src/stall/open-spans.ts';
import { MAX_RECENT_BLOCKS, RecentBlocks } from '../../src/stall/recent-blocks.ts';
import { type BlockedPeriod, stallsOfThread } from '../../src/stall/stalls.ts';
import { contextOf, FakeLoop } from './support/fake-loop.ts';
import { TracerProvider } from './support/sdk.ts';

const START = 1_800_000_000_000;
const RUNS = 20;
const ENDED = 100;

/** Counts calls of `spanContext` of all spans that `run` makes. */
function countSpanContexts(span: Span, run: () => void): number {
  const spy = jest.spyOn(Object.getPrototypeOf(span) as Span, 'spanContext');
  run();
  const { length } = spy.mock.calls;
  spy.mockRestore();
  return length;
}

describe.each([20, 2000])('%d open requests', (open) => {
  const processor = new EventLoopSpanProcessor();
  const tracer = new TracerProvider({ spanProcessors: [processor] as never[] }).getTracer('app');
  const openRequests = () =>
    Array.from({ length: open }, () => {
      const options = { startTime: toHrTime(START), kind: SpanKind.SERVER };
      const entry = tracer.startSpan('request', options, ROOT_CONTEXT);
      const context = trace.setSpan(ROOT_CONTEXT, entry);
      return [entry, tracer.startSpan('handler', options, context)] as const;
    });

  afterAll(async () => {
    stallsOfThread().ongoing = undefined;
    await processor.shutdown();
  });

  test('a span that ends in a pile-up: what ran in that is found out for all together', () => {
    const requests = openRequests();
    const spans = requests.flat();
    const ran = requests.slice(0, RUNS).map(([, handler]) => ({
      context: trace.setSpan(ROOT_CONTEXT, handler),
      millis: 160 / RUNS,
    }));
    const pileUp: BlockedPeriod = { start: START + 1, end: START + 161, context: undefined, ran };
    stallsOfThread().ongoing = { ongoingPileUp: () => pileUp };
    const [first, ...others] = spans.slice(-1 - ENDED);
    (first as Span).end(toHrTime(START + 200));
    const calls = countSpanContexts(first as Span, () => {
      for (const span of others) span.end(toHrTime(START + 200));
    });
    expect(calls / others.length).toBeLessThanOrEqual(2);
    for (const span of spans) span.end();
  });

  test('the spans around spans: each open span is looked at once', () => {
    const spans = new OpenSpans();
    const requests = openRequests();
    for (const [entry, handler] of requests) {
      spans.add(entry, ROOT_CONTEXT);
      spans.add(handler, trace.setSpan(ROOT_CONTEXT, entry));
    }
    const [[entry, handler]] = requests as [(typeof requests)[number]];
    const asked = 1000;
    const calls = countSpanContexts(entry, () => {
      for (let i = 0; i < asked; i++) expect(spans.parentOf(handler)).toBe(entry);
    });
    expect(calls).toBeLessThanOrEqual(3 * open + asked);
  });
});

describe('recent blocks', () => {
  /** Counts how often it is asked for a span. */
  class CountingSet extends Set<string> {
    static asked = 0;
    override has(id: string): boolean {
      CountingSet.asked++;
      return super.has(id);
    }
  }
  const blocks = new RecentBlocks();
  const span = (spanId: string, start: number) => ({ spanId, start, end: 1e6 });
  const askedFor = (spanId: string, start: number) => {
    CountingSet.asked = 0;
    const { millis } = blocks.stallOf(span(spanId, start));
    return { millis, asked: CountingSet.asked };
  };

  // The latest one is a pile-up around the one before it.
  beforeAll(() => {
    for (let i = 0; i < 1.5 * MAX_RECENT_BLOCKS; i++) {
      blocks.add({
        start: 10 * i,
        end: 10 * i + 8,
        blockingSpanIds: new CountingSet([`blocking ${i}`, 'blocking all']),
        ranMillis: new Map([[`ran ${i}`, 3]]),
        span: undefined,
      });
    }
  });

  const newest = 1.5 * MAX_RECENT_BLOCKS - 1;

  test('sets of blocks are not asked for a span that is in none of them', () => {
    expect(askedFor('other', 0)).toEqual({ millis: 8 * MAX_RECENT_BLOCKS, asked: 0 });
  });

  test('but for a span that is in one', () => {
    const all = 8 * MAX_RECENT_BLOCKS;
    expect(askedFor(`blocking ${newest - 5}`, 0)).toEqual({ millis: all - 8, asked: 1 });
    expect(askedFor(`ran ${newest - 5}`, 0)).toEqual({ millis: all - 3, asked: 1 });
    expect(askedFor('blocking all', 0).millis).toBe(0);
  });

  test('what has left the ring is forgotten', () => {
    expect(askedFor('blocking 0', 0)).toEqual({ millis: 8 * MAX_RECENT_BLOCKS, asked: 0 });
  });

  test('older ones are not looked at', () => {
    expect(askedFor('blocking all', 10 * newest)).toEqual({ millis: 0, asked: 1 });
    expect(askedFor('other', 10 * newest)).toEqual({ millis: 8, asked: 0 });
  });
});

test('a part that is reported before the pile-up that began earlier hides none of both', () => {
  const blocks = new RecentBlocks();
  const block = (start: number, end: number) =>
    blocks.add({ start, end, blockingSpanIds: new Set(), span: undefined });
  block(220, 400);
  block(100, 220);
  expect(blocks.stallOf({ spanId: 'a', start: 50, end: 500 }).millis).toBe(300);
  expect(blocks.stallOf({ spanId: 'a', start: 300, end: 500 }).millis).toBe(100);
});

describe('the ongoing pile-up of a ledger', () => {
  test('is found out once for a task, and again when it has grown by a twentieth', () => {
    const l = new FakeLoop(100).primed();
    for (let i = 0; i < 20; i++) l.callback(10, contextOf(`request ${i}`));
    const found: unknown[] = [];
    const find = () => void found.push(l.ledger.ongoingPileUp());
    const cpu = jest.spyOn(l.clock, 'cpu');
    l.callback(() => {
      for (let i = 0; i < ENDED; i++) find();
      l.clock.run(4);
    });
    l.callback(find);
    expect(new Set(found).size).toBe(1);
    expect(found[0]).toMatchObject({ end: expect.any(Number), ran: expect.any(Array) });
    expect(cpu.mock.calls.length).toBeLessThan(10);
    l.callback(10, contextOf('one more'));
    l.callback(find);
    expect(new Set(found).size).toBe(2);
  });

  test('is forgotten with its iteration', () => {
    const l = new FakeLoop(100).primed();
    const found: unknown[] = [];
    for (let i = 0; i < 2; i++) {
      for (let n = 0; n < 20; n++) l.callback(10, contextOf(`request ${n}`));
      l.callback(() => void found.push(l.ledger.ongoingPileUp()));
      l.nextIteration(10);
    }
    l.callback(() => expect(l.ledger.ongoingPileUp()).toBeUndefined());
    expect(new Set(found).size).toBe(2);
  });
});
