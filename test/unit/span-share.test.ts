import { type Context, createContextKey, ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api';
import fc from 'fast-check';
import { Attribution } from '../../src/detect/attribution/attribution.ts';
import { contextOf, type FakeSpan, fakeSpanOf, spanFacts } from './support/fake-loop.ts';

const SUPPRESS = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');
const newAttribution = () => new Attribution(1, { epoch: (time) => time }, spanFacts);
let spans = 0;

/** A context with a span inside that of another one. */
function inside(around: Context): Context {
  const parent = fakeSpanOf(around);
  const spanId = `c${(++spans).toString(16)}`.padStart(16, '0');
  const span = trace.wrapSpanContext({ ...parent.spanContext(), spanId }) as FakeSpan;
  span.parent = parent;
  return trace.setSpan(ROOT_CONTEXT, span);
}

const a = contextOf('a');
const inA = inside(a);
const besideIt = inside(a);
const b = contextOf('b');

/** Each of them runs for so long, one after the other, and others for the rest of 100 ms. */
function shares(of: Context, ...ran: [Context, number][]): number | undefined {
  const attribution = newAttribution();
  let at = 0;
  for (const [context, millis] of ran) {
    attribution.votes.vote(at, at + millis, millis, { context: context, resourceType: undefined });
    at += millis;
  }
  for (let i = 0; at < 100; i++, at += 5) {
    attribution.votes.vote(at, at + 5, 5, {
      context: contextOf(`other ${i}`),
      resourceType: undefined,
    });
  }
  return attribution.shareOf(fakeSpanOf(of), 0, 100);
}

describe('how long a span ran in a pile-up', () => {
  test('itself, and what is inside it', () => {
    expect(shares(a, [a, 10], [inA, 20], [b, 30])).toBe(30);
    expect(shares(inA, [a, 10], [inA, 20], [b, 30])).toBe(20);
    expect(shares(besideIt, [a, 10], [inA, 20], [b, 30])).toBe(0);
    expect(shares(contextOf('waiting'), [a, 40])).toBe(0);
  });

  test('not an exporter in its context', () => {
    expect(shares(a, [a, 10], [a.setValue(SUPPRESS, true), 40])).toBe(10);
  });

  test('is not said of a trace that may have run for half of it', () => {
    expect(shares(inA, [a, 25], [besideIt, 20])).toBe(0);
    expect(shares(inA, [a, 25], [besideIt, 25])).toBeUndefined();
    expect(shares(b, [a, 25], [besideIt, 25])).toBe(0);
  });

  test('is not said if more than a tenth is unknown', () => {
    const attribution = newAttribution();
    attribution.votes.vote(0, 30, 30, { context: a, resourceType: undefined });
    for (let i = 0; i < 12; i++)
      attribution.votes.vote(30 + i * 5, 35 + i * 5, 5, {
        context: contextOf('b'),
        resourceType: undefined,
      });
    expect(attribution.shareOf(fakeSpanOf(a), 0, 100)).toBe(30);
    expect(attribution.shareOf(fakeSpanOf(a), 0, 101)).toBeUndefined();
  });

  test('is the same as that of all that ran, and the time is attributed to another trace', () => {
    const all = [a, inA, besideIt, inside(inA), b, inside(b), contextOf('c'), ROOT_CONTEXT];
    const anyVote = fc.record({ context: fc.constantFrom(...all), millis: fc.nat({ max: 20 }) });
    fc.assert(
      fc.property(
        fc.array(anyVote, { minLength: 1, maxLength: 150 }),
        fc.constantFrom(...all.slice(0, -1)),
        fc.double({ min: 0, max: 0.9, noNaN: true }),
        (cast, context, startShare) => {
          const attribution = newAttribution();
          let end = 0;
          for (const { context: by, millis } of cast) {
            attribution.votes.vote(end, end + millis, millis, {
              context: by,
              resourceType: undefined,
            });
            end += millis;
          }
          const start = end * startShare;
          if (end - start < 1) return;
          const span = fakeSpanOf(context);
          const share = attribution.shareOf(span, start, end);
          const isInside = (each: Span | undefined): boolean =>
            each === span || (each !== undefined && isInside((each as FakeSpan).parent));
          const found = attribution.of(start, end);
          const ran = found.ran
            .filter((run) => isInside(trace.getSpan(run.context)))
            .reduce((sum, { millis }) => sum + millis, 0);
          const attributed = found.attributed?.context;
          const attributedTo = attributed && trace.getSpanContext(attributed)?.traceId;
          if (share === undefined) return;
          expect(share).toBeCloseTo(ran, 6);
          expect(attributedTo).not.toBe(span.spanContext().traceId);
        },
      ),
    );
  });
});
