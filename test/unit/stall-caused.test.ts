/** Which functions entry spans waited for: each stalled millisecond counts for exactly one. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Attributes, ROOT_CONTEXT, type Span, SpanKind, trace } from '@opentelemetry/api';
import fc from 'fast-check';
import { REQUEST_CHANNEL, type RequestMessage } from '../../src/channels.ts';
import type { Instruments } from '../../src/core/emit/instruments.ts';
import { EndedRequests, MAX_WAITING } from '../../src/core/stalls/ended-requests.ts';
import { EventLoopSpanProcessor } from '../../src/core/stalls/event-loop-span-processor.ts';
import { NO_WAITS, RecentBlocks } from '../../src/core/stalls/recent-blocks.ts';
import { stallsOfThread } from '../../src/core/stalls/stalls.ts';
import { toHrTime } from '../../src/otel/hr-time.ts';
import type { EventLoopBlock } from '../../src/types.ts';
import { TracerProvider } from './support/sdk.ts';
import { stallSession } from './support/stall-session.ts';

/** Unix time. Each scene has a day of its own: blocks are remembered from one to the next. */
let day = 1_700_000_000_000;

/** For how long the loop has waited, in all scenes. */
let waited = 0;

/** Requests, blocks and pile-ups of one thread, in time that is set by hand. */
class Scene {
  readonly stalls = stallsOfThread();
  readonly provider = new TracerProvider({
    spanProcessors: [new EventLoopSpanProcessor()] as never,
  });
  readonly #tracer = this.provider.getTracer('app');
  readonly start = day;
  now = 0;
  iteration = 0;
  pileUp: { start: number; end: number; cpu: number; context: undefined } | undefined;
  /** Of the metric `event_loop.stall.duration`. */
  stalledMillis = 0;
  /** Of the metric `event_loop.stall.caused`, by function. */
  readonly caused = new Map<string, number>();
  readonly messages: RequestMessage[] = [];
  #unreported: (() => void)[] = [];
  readonly #onMessage = (message: unknown) => void this.messages.push(message as RequestMessage);

  constructor() {
    day += 86_400_000;
    subscribe(REQUEST_CHANNEL, this.#onMessage);
    this.stalls.start(
      stallSession({
        clock: {
          epoch: (time) => time,
          loopCount: () => this.iteration,
          waited: () => waited,
        },
        ongoingPileUp: () => this.pileUp,
        settle: () => this.report(),
        stalled: (millis) => {
          this.stalledMillis += millis;
        },
        caused: (waits) => this.#count(waits),
      }),
    );
  }

  request(kind = SpanKind.SERVER, attributes = {}): Span {
    // The loop was idle when it came: it has not waited before its span begins.
    waited++;
    const startTime = toHrTime(this.start + this.now);
    return this.#tracer.startSpan('GET', { kind, startTime, attributes }, ROOT_CONTEXT);
  }

  inside(span: Span, attributes: Attributes): Span {
    return this.#tracer.startSpan('inside', { attributes }, trace.setSpan(ROOT_CONTEXT, span));
  }

  end(span: Span): void {
    span.end(toHrTime(this.start + this.now));
  }

  /** A block that ends now; it is reported by {@link report}, unless that is never done. */
  block(millis: number, functionName?: string, from = this.now): void {
    const period = { start: this.start + from, end: this.start + from + millis };
    this.now = from + millis;
    const code = functionName === undefined ? {} : { code: { functionName, stackTrace: '' } };
    const facts = { startTimeMillis: period.start, ...code } as EventLoopBlock;
    this.stalls
      .spansAt({
        ...period,
        kind: undefined,
        callbacks: 1,
        context: undefined,
        resourceType: undefined,
        cpu: millis,
        samples: [],
        isOwnWork: false,
      })
      ?.add({
        spanContext: () => undefined,
        addQueued: () => {},
        onReported: (listener) => void this.#unreported.push(() => listener(facts)),
      });
  }

  /** As {@link block}, but what has ended is only known to have piled up. */
  pileUpSince(from: number): void {
    const [start, end] = [this.start + from, this.start + this.now];
    this.pileUp = { start, end, cpu: end - start, context: undefined };
  }

  report(): void {
    for (const report of this.#unreported.splice(0)) report();
    this.stalls.report();
  }

  /** Nothing is left that could be reported. */
  async stop(): Promise<this> {
    await this.provider.shutdown();
    if (this.stalls.session !== undefined) this.stalls.stop(this.stalls.session);
    unsubscribe(REQUEST_CHANNEL, this.#onMessage);
    return this;
  }

  #count(waits: Parameters<Instruments['stallCaused']>[0]): void {
    for (const { code, stalledMillis } of waits)
      add(this.caused, code?.functionName ?? '', stalledMillis);
  }
}

const add = (sums: Map<string, number>, key: string, millis: number) =>
  sums.set(key, (sums.get(key) ?? 0) + millis);

test('requests that were not stalled are published at once, other spans never', async () => {
  const scene = new Scene();
  scene.end(scene.request());
  scene.end(scene.request(SpanKind.CONSUMER));
  scene.end(scene.request(SpanKind.INTERNAL));
  scene.end(scene.request(SpanKind.CLIENT));
  expect(scene.messages.map(({ stalledMillis, waits }) => [stalledMillis, waits()])).toEqual([
    [0, []],
    [0, []],
  ]);
  await scene.stop();
});

test('an operation of GraphQL is counted by its name, not by the route of all', async () => {
  const scene = new Scene();
  const attributes = { 'http.request.method': 'POST', 'http.route': '/graphql' };
  const request = scene.request(SpanKind.SERVER, attributes);
  const execute = scene.inside(request, {
    'graphql.operation.type': 'query',
    'graphql.operation.name': 'Orders',
  });
  scene.end(execute);
  scene.end(request);
  scene.end(scene.request(SpanKind.SERVER, attributes));
  expect(scene.messages.map(({ route }) => route)).toEqual(['query Orders', 'POST /graphql']);
  await scene.stop();
});

test('requests that wait for names are bounded: more are reported without them', () => {
  const requests = new EndedRequests(new RecentBlocks());
  let isKnown = false;
  let reported = 0;
  const request = { waits: NO_WAITS, isKnown: () => isKnown, report: () => reported++ };
  for (let i = 0; i < MAX_WAITING; i++) requests.add(request);
  requests.report();
  expect(reported).toBe(0);
  requests.add(request);
  expect(reported).toBe(1);
  isKnown = true;
  requests.report();
  expect(reported).toBe(MAX_WAITING + 1);
  expect(requests.isEmpty).toBe(true);
});

test('many that are known are reported in turns', () => {
  const requests = new EndedRequests(new RecentBlocks());
  let reported = 0;
  const request = { waits: NO_WAITS, isKnown: () => true, report: () => reported++ };
  for (let i = 0; i < 3; i++) requests.add(request);
  expect(reported).toBe(0);
  const past = Number.NEGATIVE_INFINITY;
  expect([1, 2, 3, 4].map(() => requests.report(false, past))).toEqual([false, false, false, true]);
  expect(reported).toBe(3);
});

type Name = 'a' | 'b' | 'c' | undefined;
/** One thing that happens. */
type Step =
  | { do: 'start'; kind: SpanKind }
  | { do: 'end'; which: number }
  | { do: 'wait'; millis: number }
  | { do: 'block'; millis: number; name: Name }
  | { do: 'pileUp'; parts: number[]; ends: number[]; name: Name; isBlock: boolean }
  | { do: 'report' };

const millisIn = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const name = fc.constantFrom<Name[]>('a', 'b', 'c', undefined);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('start' as const),
    kind: fc.constantFrom(SpanKind.SERVER, SpanKind.CONSUMER),
  }),
  fc.record({ do: fc.constant('end' as const), which: fc.nat(20) }),
  fc.record({ do: fc.constant('wait' as const), millis: millisIn(0, 50) }),
  fc.record({ do: fc.constant('block' as const), millis: millisIn(20, 500), name }),
  fc.record({
    do: fc.constant('pileUp' as const),
    parts: fc.array(millisIn(20, 200), { minLength: 1, maxLength: 4 }),
    ends: fc.array(fc.nat(20), { maxLength: 4 }),
    name,
    isBlock: fc.boolean(),
  }),
  fc.record({ do: fc.constant('report' as const) }),
);

test('each stalled millisecond counts for exactly one function: the sums are equal', async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
    const scene = new Scene();
    const open: { span: Span; since: number }[] = [];
    const blocks: { start: number; end: number; name: string }[] = [];
    const expected = new Map<string, number>();
    let ended = 0;
    const overlap = (since: number, { start, end }: { start: number; end: number }) => {
      const millis = Math.min(scene.now, end) - Math.max(since, start);
      return millis >= 1 ? millis : 0;
    };
    const end = (which: number, pileUp?: { start: number; end: number; name: string }) => {
      const [request] = open.splice(which % open.length, 1);
      if (request === undefined) return;
      for (const block of pileUp === undefined ? blocks : [...blocks, pileUp])
        add(expected, block.name, overlap(request.since, block));
      scene.end(request.span);
      ended++;
    };
    for (const what of steps) {
      switch (what.do) {
        case 'start':
          open.push({ span: scene.request(what.kind), since: scene.now });
          break;
        case 'end':
          end(what.which);
          break;
        case 'wait':
          scene.now += what.millis;
          scene.iteration++;
          break;
        case 'block': {
          const start = scene.now;
          scene.block(what.millis, what.name);
          blocks.push({ start, end: scene.now, name: what.name ?? '' });
          break;
        }
        case 'pileUp': {
          const start = scene.now;
          const name = what.isBlock ? (what.name ?? '') : '';
          for (const [i, millis] of what.parts.entries()) {
            scene.now += millis;
            scene.pileUpSince(start);
            const which = what.ends[i];
            if (which !== undefined) end(which, { start, end: scene.now, name });
          }
          scene.pileUp = undefined;
          if (what.isBlock) {
            const stop = scene.now;
            scene.block(stop - start, what.name, start);
            blocks.push({ start, end: stop, name });
          }
          scene.iteration += 2;
          break;
        }
        default:
          scene.report();
      }
    }
    while (open.length > 0) end(0);
    await scene.stop();
    const caused = [...scene.caused.values()].reduce((sum, millis) => sum + millis, 0);
    expect(caused).toBeCloseTo(scene.stalledMillis, 3);
    for (const name of ['', 'a', 'b', 'c'])
      expect(scene.caused.get(name) ?? 0).toBeCloseTo(expected.get(name) ?? 0, 1);
    expect(scene.messages).toHaveLength(ended);
    for (const { waits, stalledMillis } of scene.messages)
      expect(waits().reduce((sum, { millis }) => sum + millis, 0)).toBeCloseTo(stalledMillis, 6);
  });
  await fc.assert(property, { numRuns: 200 });
});
