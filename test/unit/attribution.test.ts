import { type Context, createContextKey, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import fc from 'fast-check';
import type { WeightedSample } from '../../src/block.ts';
import { Attribution } from '../../src/core/record/attribution/attribution.ts';
import type { Attributed } from '../../src/core/record/attribution/votes.ts';
import { expectingBlocks, madeByIn } from '../../src/otel/context-marks.ts';
import { contextOf, fakeSpanOf, nameOf, spanFacts } from './support/fake-loop.ts';
import { stackSample } from './support/stack-sample.ts';

const SUPPRESS = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/** The votes of a busy period, and what a part of it is attributed to. Its clock has Unix times. */
class Voting {
  isPileUp = false;
  #cast: [from: number, until: number, millis: number, by: Attributed][] = [];

  vote(from: number, until: number, millis: number, context: Context, resourceType?: string): void {
    this.#cast.push([from, until, millis, { context, resourceType }]);
  }

  of(
    start: number,
    end: number,
    thresholdMillis: number,
    samples: WeightedSample[],
    around?: Attributed,
  ) {
    const attribution = new Attribution(thresholdMillis, { epoch: (time) => time }, spanFacts);
    attribution.open(Math.min(start, 0));
    for (const each of this.#cast) attribution.votes.vote(...each);
    attribution.samples.within = () => samples;
    return attribution.of(start, end, around, this.isPileUp);
  }

  attribute(
    start: number,
    end: number,
    thresholdMillis: number,
    samples: WeightedSample[] = [],
    around?: Attributed,
  ) {
    return this.of(start, end, thresholdMillis, samples, around).attributed;
  }

  ran(start: number, end: number, samples: WeightedSample[], around?: Attributed) {
    return this.of(start, end, 0, samples, around).ran;
  }
}
const votes = () => new Voting();

test('however many take part, memory is bounded and the heaviest is not lost', () => {
  const b = votes();
  for (let i = 0; i < 10_000; i++) b.vote(i, i + 1, i === 5000 ? 5000 : 1, contextOf(`r${i}`));
  expect(nameOf(b.attribute(0, 10_000, 1)?.context)).toBe('r5000');
});

test('a span has its time if its SDK makes a context for each scope, as dd-trace and Sentry do', () => {
  const b = votes();
  const [one, other] = [contextOf('one'), contextOf('other')];
  const key = createContextKey('scope');
  for (let t = 0; t < 3000; t += 3) {
    b.vote(t, t + 2, 2, one.setValue(key, t));
    b.vote(t + 2, t + 3, 1, other.setValue(key, t));
  }
  expect(nameOf(b.attribute(0, 3000, 100)?.context)).toBe('one');
});

describe('with captures', () => {
  const sample = (context: ReturnType<typeof contextOf>, weight: number) => ({
    ...stackSample(50, context),
    weight,
  });

  test('a pile-up is of nobody by one sample: many will have run', () => {
    const attributed = (isPileUp: boolean, voted: number, samples: number) => {
      const b = votes();
      b.isPileUp = isPileUp;
      const sampled = contextOf('sampled');
      b.vote(60, 60 + voted, voted, sampled);
      b.vote(100, 105, 5, contextOf('other'));
      const all = Array.from({ length: samples }, () => sample(sampled, 105 / samples));
      return nameOf(b.attribute(0, 105, 105, all)?.context);
    };
    expect(attributed(true, 2, 1)).toBeUndefined();
    expect(attributed(true, 2, 2)).toBe('sampled');
    expect(attributed(true, 40, 1)).toBeUndefined();
    expect(attributed(false, 2, 1)).toBe('sampled');
  });
});

describe('what ran in a block', () => {
  const sample = (context: ReturnType<typeof contextOf>, weight: number) => ({
    ...stackSample(50, context),
    weight,
  });
  const names = (runs: ReturnType<Voting['ran']>) =>
    runs.map(({ context, millis }) => [nameOf(context), millis]);

  test('inside of one scope: what was voted for, and the remainder is its own', () => {
    const b = votes();
    const [parser, handler] = [contextOf('parser'), contextOf('handler')];
    b.vote(124, 192, 68, handler);
    const around = { context: parser, resourceType: undefined };
    // Scopes have voted: that a stack sample stands for more of one is by chance.
    const samples = [sample(parser, 100), sample(handler, 92)];
    expect(names(b.ran(0, 192, samples, around))).toEqual([
      ['handler', 68],
      ['parser', 124],
    ]);
  });

  test('inside of one scope: a span that was entered by other means, by its stack samples', () => {
    const b = votes();
    const [request, attached] = [contextOf('request'), contextOf('attached')];
    const around = { context: request, resourceType: undefined };
    const samples = [sample(request, 40), sample(attached, 60)];
    expect(names(b.ran(0, 100, samples, around))).toEqual([
      ['request', 40],
      ['attached', 60],
    ]);
  });

  test('inside of a callback without a span: the remainder is of the span that ran longest', () => {
    const b = votes();
    b.vote(20, 90, 70, contextOf('handler'));
    const around = { context: ROOT_CONTEXT, resourceType: undefined };
    expect(names(b.ran(0, 100, [], around))).toEqual([['handler', 100]]);
  });
});

describe.each([
  ['expected code', expectingBlocks(ROOT_CONTEXT)],
  ['an exporter', ROOT_CONTEXT.setValue(SUPPRESS, true)],
])('a scope of %s, without a span', (_name, context) => {
  const around = { context, resourceType: undefined };

  test('is what its block is attributed to, also if samples have another context', () => {
    const samples = [{ ...stackSample(50, ROOT_CONTEXT), weight: 100 }];
    expect(votes().attribute(0, 100, 100, samples, around)).toEqual(around);
  });
});

test('a block of another one in between does not take away what its neighbor voted for', () => {
  const b = votes();
  const a = contextOf('A', -10);
  b.vote(0, 30, 30, a);
  for (let t = 180; t < 340; t += 40) b.vote(t, t + 40, 40, a);
  expect(
    b.attribute(180, 340, 100, [], { context: ROOT_CONTEXT, resourceType: 'Timeout' }),
  ).toEqual({
    context: a,
    resourceType: 'Timeout',
  });
});

test('an AsyncResource that is entered in a callback does not give that its type', () => {
  const job = contextOf('job', -10);
  const sample = (time: number, resourceType: string) => ({
    ...stackSample(time, job),
    weight: 100,
    resourceType,
  });
  const samples = [
    sample(50, 'AsyncResource'),
    sample(150, 'Timeout'),
    sample(250, 'AsyncResource'),
  ];
  expect(votes().attribute(0, 300, 100, samples)?.resourceType).toBe('Timeout');
});

describe('a span that had ended when other code ran', () => {
  const sample = (context: Context, time: number, weight: number) => ({
    ...stackSample(time, context),
    weight,
  });

  /** A context of one trace. The names of its spans are their own: an ancestor has no context. */
  function traceOf(name: string, startEpoch: number, endEpoch?: number, parent?: Context) {
    const context = contextOf(name, startEpoch);
    const span = fakeSpanOf(context);
    const around = parent && fakeSpanOf(parent);
    const spanContext = {
      ...span.spanContext(),
      traceId: (around ?? span).spanContext().traceId,
    };
    Object.assign(span, { endEpoch, parent: around, spanContext: () => spanContext });
    return context;
  }

  const spanOf = (attributed: { context: Context } | undefined) =>
    attributed && trace.getSpan(attributed.context);

  test('in several callbacks: the block belongs to the innermost span around it that covers it', () => {
    const b = votes();
    const server = traceOf('server', -50);
    const router = traceOf('router', -20, 160, server);
    const first = traceOf('first', 0, 60, router);
    const second = traceOf('second', 60, 110, router);
    b.vote(0, 60, 60, first);
    b.vote(60, 110, 50, second);
    expect(spanOf(b.attribute(0, 110, 100))).toBe(fakeSpanOf(router));
    fakeSpanOf(router).endEpoch = 70;
    expect(spanOf(b.attribute(0, 110, 100))).toBe(fakeSpanOf(server));
  });

  test('the last of several spans, which began too late: the span around it', () => {
    const b = votes();
    const server = traceOf('server', -50);
    b.vote(0, 50, 50, traceOf('first', 0, 50, server));
    b.vote(50, 110, 60, traceOf('second', 50, 110, server));
    expect(spanOf(b.attribute(0, 110, 100))).toBe(fakeSpanOf(server));
  });

  test('without a span around it: it, if it was open for three quarters of the block', () => {
    const b = votes();
    const handler = traceOf('handler', 0, 150);
    b.vote(0, 150, 150, handler);
    b.vote(150, 200, 50, ROOT_CONTEXT);
    expect(spanOf(b.attribute(0, 200, 100))).toBe(fakeSpanOf(handler));
    fakeSpanOf(handler).startEpoch = 0.1;
    expect(b.attribute(0, 200, 100)).toBeUndefined();
  });

  test('what ran then may be known from stack samples only', () => {
    const b = votes();
    const server = traceOf('server', -50);
    const parser = traceOf('parser', -20, 60, server);
    const handler = traceOf('handler', 60, undefined, server);
    const samples = [sample(parser, 30, 60), sample(handler, 90, 50)];
    expect(spanOf(b.attribute(0, 110, 100, samples))).toBe(fakeSpanOf(server));
    const around = { context: parser, resourceType: undefined };
    expect(spanOf(b.attribute(0, 110, 100, samples, around))).toBe(fakeSpanOf(server));
  });
});

describe('whatever ran, in whatever order', () => {
  /** Code of one context: milliseconds of its own, and what ran inside it. */
  interface Code {
    context: number;
    parts: (number | Code)[];
  }
  /** What ran at one time. */
  interface Ran {
    from: number;
    until: number;
    context: Context;
  }

  const CONTEXTS = 200;
  const { code } = fc.letrec<{ code: Code }>((tie) => ({
    code: fc.record({
      // A few that come often, and more than are kept apart.
      context: fc.oneof(fc.nat(2), fc.nat(CONTEXTS - 1)),
      parts: fc.array(fc.oneof({ maxDepth: 3 }, fc.nat(20), tie('code')), { maxLength: 4 }),
    }),
  }));

  /** Lets it run from `t` on: it votes as scopes do. Returns when it has ended, and what is own. */
  function run(b: Voting, contexts: Context[], ran: Ran[], { context, parts }: Code, t: number) {
    const own = contexts[context] as Context;
    let now = t;
    let millis = 0;
    for (const part of parts) {
      if (typeof part === 'number') {
        ran.push({ from: now, until: now + part, context: own });
        now += part;
        millis += part;
      } else now = run(b, contexts, ran, part, now);
    }
    b.vote(t, now, millis, own);
    return now;
  }

  test('what a part of it is attributed to ran for half of that part, or more; none ran longer than it did', () => {
    let attributed = 0;
    const property = fc.property(
      fc.array(fc.tuple(fc.nat(10), code), { maxLength: 150 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0.05, max: 1, noNaN: true }),
      (steps, from, share) => {
        const contexts = Array.from({ length: CONTEXTS }, (_, i) => contextOf(`${i}`));
        const b = votes();
        const ran: Ran[] = [];
        let t = 0;
        for (const [gap, each] of steps) t = run(b, contexts, ran, each, t + gap);
        const start = from * t;
        const end = start + share * (t - start);
        const millisOf = (by: Context) =>
          ran
            .filter(({ context }) => context === by)
            .reduce(
              (sum, r) => sum + Math.max(0, Math.min(r.until, end) - Math.max(r.from, start)),
              0,
            );
        const found = b.of(start, end, 0, []);
        for (const { context, millis } of found.ran) {
          expect(millis).toBeLessThanOrEqual(millisOf(context) + 1e-6);
        }
        if (found.attributed === undefined) return;
        attributed++;
        const millis = millisOf(found.attributed.context);
        expect(millis).toBeGreaterThanOrEqual((end - start) / 2 - 1e-6);
      },
    );
    fc.assert(property, { numRuns: 300 });
    expect(attributed).toBeGreaterThan(0);
  });
});

describe('code in the context of a request', () => {
  /** The busy period begins at 0, and the request at -1000. */
  const request = (endEpoch?: number, startEpoch = -1000) => {
    const context = contextOf('request', startEpoch);
    const isRecording = () => endEpoch === undefined;
    Object.assign(fakeSpanOf(context), {
      isRecording,
      ...(endEpoch !== undefined && { endEpoch }),
    });
    return context;
  };
  const inside = (around: Context, endEpoch?: number) => {
    const context = request(endEpoch);
    fakeSpanOf(context).parent = fakeSpanOf(around);
    return context;
  };
  const attributed = (context: Context, resourceType: string) =>
    votes().attribute(0, 200, 100, [], { context, resourceType })?.context;

  const TYPES = ['Timeout', 'Immediate', 'PROMISE', 'FSREQCALLBACK', 'TCPWRAP', 'WORKER'];

  test.each(TYPES)("of a %s, is nobody's if it had ended before, with a link to that", (type) => {
    const ended = request(-1);
    expect(madeByIn(attributed(ended, type))).toBe(ended);
    const open = inside(ended);
    expect(madeByIn(attributed(open, type))).toBe(open);
  });

  test.each(TYPES)('of a %s, is its own while it is open, and until the loop waits', (type) => {
    for (const own of [request(), request(0), request(100, 50), inside(request(), -500)])
      expect(attributed(own, type)).toBe(own);
  });

  test("is nobody's if it ended before the loop has waited last", () => {
    const ended = request(10);
    const attribution = new Attribution(100, { epoch: (time) => time }, spanFacts);
    attribution.open(0);
    const running = { context: ended, resourceType: 'TCPWRAP' };
    const contextSince = (busySince: number) =>
      attribution.of(500, 700, running, false, busySince).attributed?.context;
    expect(contextSince(5)).toBe(ended);
    expect(madeByIn(contextSince(400))).toBe(ended);
  });

  test('is as it is if its code is expected to block', () => {
    const expected = expectingBlocks(request(-500));
    expect(attributed(expected, 'TCPWRAP')).toBe(expected);
  });

  test('many of them in one pile-up add up, beside those of another request', () => {
    const b = votes();
    const [ended, other] = [request(-500), request()];
    for (let t = 0; t < 200; t += 20) b.vote(t, t + 15, 15, ended, 'TCPWRAP');
    b.vote(15, 20, 5, other, 'TCPWRAP');
    expect(madeByIn(b.attribute(0, 200, 100)?.context)).toBeDefined();
    expect(b.ran(0, 200, []).map(({ context }) => context)).toEqual([other]);
  });
});

describe('a callback of a socket whose peer is called', () => {
  const PORT = 5432;
  /** A call that began before the block, or at `startEpoch`. */
  const call = (name: string, isOwed: boolean, endEpoch?: number, startEpoch = -10) => {
    const span = fakeSpanOf(contextOf(name, startEpoch));
    if (endEpoch !== undefined) span.endEpoch = endEpoch;
    return { span, isOwed };
  };
  const maker = contextOf('maker', -1000);
  const attributed = (...calls: ReturnType<typeof call>[]) => {
    let asked = 0;
    const facts = {
      ...spanFacts,
      callsTo: (port: number) => (++asked && port === PORT ? calls : []),
    };
    const attribution = new Attribution(100, { epoch: (time) => time }, facts);
    attribution.open(0);
    const type = `TCPWRAP:${PORT}`;
    for (let t = 0; t < 200; t += 10)
      attribution.votes.vote(t, t + 10, 10, {
        context: maker,
        resourceType: t % 20 === 0 ? type : 'TCPWRAP:1',
      });
    const { context } =
      attribution.of(0, 200, { context: maker, resourceType: type }).attributed ?? {};
    // Of both ports, however many callbacks there were.
    expect(asked).toBeLessThanOrEqual(2);
    return context;
  };
  const spanOf = (context: Context | undefined) => context && trace.getSpan(context);

  test('is that of the call that it has answered, whatever it is, among others', () => {
    const answered = call('answered', false, 190);
    expect(spanOf(attributed(answered, call('waits', false)))).toBe(answered.span);
  });

  test("is nobody's if the request of that call has ended, with a link to the call", () => {
    const query = call('query', true);
    const root = fakeSpanOf(contextOf('ended', -500));
    Object.assign(query.span, { isRecording: () => true, parent: root });
    expect(spanOf(attributed(query))).toBe(query.span);
    root.endEpoch = -1;
    expect(spanOf(madeByIn(attributed(query)))).toBe(query.span);
  });

  test.each([
    ['databases owe answers to several', [call('one', true), call('two', true)]],
    ['others wait, and none is answered', [call('one', false)]],
  ])("is nobody's, with a link to what made it: %s", (_, calls) => {
    expect(madeByIn(attributed(...calls))).toBe(maker);
  });
});
