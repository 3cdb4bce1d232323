/** In an overload the work for each span is constant: it is counted here, not timed. */
import { ROOT_CONTEXT, type Span, SpanKind, trace } from '@opentelemetry/api';
import { EventLoopSpanProcessor } from '../../src/core/stalls/event-loop-span-processor.ts';
import { stallsOfThread } from '../../src/core/stalls/stalls.ts';
import { toHrTime } from '../../src/otel/hr-time.ts';
import { TracerProvider } from './support/sdk.ts';
import { stallSession } from './support/stall-session.ts';

const START = 1_800_000_000_000;
const RUNS = 20;
const SPAN_CLASS = Object.getPrototypeOf(
  new TracerProvider().getTracer('app').startSpan('span'),
) as Span;

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
