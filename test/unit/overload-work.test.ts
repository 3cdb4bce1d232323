/** In an overload the work for each span is constant: it is counted here, not timed. */
import { ROOT_CONTEXT, type Span, SpanKind, trace } from '@opentelemetry/api';
import { Attribution } from '../../src/detect/attribution/attribution.ts';
import { Exclusions } from '../../src/detect/exclude/exclusions.ts';
import { toHrTime } from '../../src/otel/hr-time.ts';
import { EventLoopSpanProcessor } from '../../src/stalls/event-loop-span-processor.ts';
import { MAX_RECENT_BLOCKS, RecentBlocks } from '../../src/stalls/recent-blocks.ts';
import { stallsOfThread } from '../../src/stalls/stalls.ts';
import { contextOf, FakeLoop, spanFacts } from './support/fake-loop.ts';
import { TracerProvider } from './support/sdk.ts';
import { stallSession } from './support/stall-session.ts';

const START = 1_800_000_000_000;
const RUNS = 20;
const SPAN_CLASS = Object.getPrototypeOf(
  new TracerProvider().getTracer('app').startSpan('span'),
) as Span;
const ENDED = 100;

/** Counts what is asked of all spans in `run`. */
function countAsked(run: () => void): number {
  const spies = (['spanContext', 'isRecording'] as const).map((method) =>
    jest.spyOn(SPAN_CLASS, method),
  );
  run();
  const asked = spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
  for (const spy of spies) spy.mockRestore();
  return asked;
}

describe('open requests', () => {
  const processor = new EventLoopSpanProcessor();
  const tracer = new TracerProvider({ spanProcessors: [processor] as never[] }).getTracer('app');
  const openRequests = (open: number) =>
    Array.from({ length: open }, () => {
      const options = { startTime: toHrTime(START), kind: SpanKind.SERVER };
      const entry = tracer.startSpan('request', options, ROOT_CONTEXT);
      const context = trace.setSpan(ROOT_CONTEXT, entry);
      return [entry, tracer.startSpan('handler', options, context)] as const;
    });
  type Requests = ReturnType<typeof openRequests>;
  const pileUpOf = (requests: Requests) => ({
    start: START + 100,
    end: START + 260,
    cpu: 160,
    context: undefined,
    ran: requests.slice(0, RUNS).map(([, handler]) => ({
      context: trace.setSpan(ROOT_CONTEXT, handler),
      millis: 160 / RUNS,
    })),
  });
  const beginPileUp = (requests: Requests) => {
    const pileUp = pileUpOf(requests);
    stallsOfThread().start(stallSession({ ongoingPileUp: () => pileUp }));
  };
  const end = (span: Span | undefined) => span?.end(toHrTime(START + 300));
  /** With few open requests, and with a hundred times as many. */
  const askedWith = (
    run: (requests: Requests) => void,
    before: (requests: Requests) => void = () => {},
  ) =>
    [RUNS, 100 * RUNS].map((open) => {
      const requests = openRequests(open);
      before(requests);
      const asked = countAsked(() => run(requests));
      const { session } = stallsOfThread();
      if (session !== undefined) stallsOfThread().stop(session);
      for (const span of requests.flat()) if (span.isRecording()) end(span);
      return asked;
    });

  afterAll(() => processor.shutdown());

  test('the first span that ends in a pile-up: what is around what ran is known', () => {
    const [few, many] = askedWith((requests) => end(requests[0]?.[1]), beginPileUp);
    expect(few).toBeGreaterThan(RUNS);
    expect(many).toBe(few);
  });

  test('each further span that ends in it', () => {
    const [few, many] = askedWith(
      (requests) => {
        for (const [, handler] of requests.slice(1, RUNS)) end(handler);
      },
      (requests) => {
        beginPileUp(requests);
        end(requests[0]?.[1]);
      },
    );
    expect((few as number) / (RUNS - 1)).toBeLessThanOrEqual(2);
    expect(many).toBe(few);
  });

  test.each(['callback', 'pile-up'] as const)('a block, a %s', (kind) => {
    const stalled: unknown[] = [];
    const [few, many] = askedWith((requests) => {
      stallsOfThread().start(stallSession());
      const block = { ...pileUpOf(requests), kind, callbacks: 1, samples: [] };
      const spans = stallsOfThread().spansAt({
        ...block,
        resourceType: undefined,
        isOwnWork: false,
      });
      stalled.push(spans?.stalledSpans);
    });
    expect(stalled).toEqual([2 * RUNS, 200 * RUNS]);
    expect(many).toBe(few);
  });
});

test('what ran most in a block: each of many spans is looked at once', () => {
  const tracer = new TracerProvider().getTracer('app');
  const asked = [8, 64].map((count) => {
    const attribution = new Attribution(1, { epoch: () => START }, spanFacts);
    for (let i = 0; i < count; i++) {
      const context = trace.setSpan(ROOT_CONTEXT, tracer.startSpan('span'));
      attribution.votes.vote(i, i + 1, 1, { context, resourceType: undefined });
    }
    const attribute = () => expect(attribution.of(0, count).attributed).toBeUndefined();
    return countAsked(attribute) / count;
  });
  expect(asked).toEqual([1, 1]);
});

test('a pile-up in which the thread ran is no suspension: counters of the kernel are not read', () => {
  const within = jest.fn(() => undefined);
  const exclusions = new Exclusions(100, () => undefined, { within });
  expect(exclusions.isSuspended({ start: 0, end: 160, cpu: 100 })).toBe(false);
  expect(within).not.toHaveBeenCalled();
  exclusions.isSuspended({ start: 0, end: 160, cpu: 99 });
  expect(within).toHaveBeenCalledTimes(1);
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
        named: undefined,
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
    blocks.add({
      start,
      end,
      blockingSpanIds: new Set(),
      span: undefined,
      named: undefined,
    });
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
