import { ROOT_CONTEXT, type Span, SpanKind, trace } from '@opentelemetry/api';
import type { Block, Run } from '../../src/block.ts';
import { EndedBlock } from '../../src/core/emit/ended-block.ts';
import { requestsOf, whyUnknown } from '../../src/core/emit/unknown-code.ts';
import type { SampledCode } from '../../src/core/explain/name/describe-code.ts';
import type { Clock } from '../../src/support/clock.ts';
import type { Guard } from '../../src/support/guard.ts';
import type { EventLoopBlock } from '../../src/types.ts';

let ids = 0;
const clock = { cpuIsOfThread: true, epoch: (time: number) => time } as Clock;
const guard = { run: () => undefined } as unknown as Guard;

/** What ran in a request; each has a trace of its own. */
function run(route: string, millis: number, traceId = `${++ids}`.padStart(32, '0')): Run {
  const spanContext = { traceId, spanId: `${++ids}`.padStart(16, '0'), traceFlags: 1 };
  const span = {
    kind: SpanKind.SERVER,
    attributes: { 'http.request.method': 'GET', 'http.route': route },
    spanContext: () => spanContext,
  };
  return { context: trace.setSpan(ROOT_CONTEXT, span as unknown as Span), millis };
}

const pileUp = (ran: Run[], more: Partial<Block> = {}): Block => ({
  kind: 'pile-up',
  start: 0,
  end: 200,
  callbacks: ran.length,
  context: undefined,
  resourceType: undefined,
  cpu: 200,
  samples: [],
  isOwnWork: false,
  ran,
  ...more,
});

test('the requests of the operation that took most of a pile-up', () => {
  const ran = [run('/posts', 40), run('/users', 30), run('/posts', 50), run('/posts', 60)];

  expect(requestsOf(pileUp(ran))).toEqual({
    operation: 'GET /posts',
    count: 3,
    share: 0.75,
  });
});

test('nothing is said of one request, of less than half, or of what is no pile-up', () => {
  const traceId = 'a'.repeat(32);
  const one = [run('/posts', 90, traceId), run('/posts', 90, traceId)];
  const few = [run('/posts', 30), run('/posts', 40)];
  const many = [run('/posts', 90), run('/posts', 90)];

  expect(requestsOf(pileUp(one))).toBeUndefined();
  expect(requestsOf(pileUp(few))).toBeUndefined();
  expect(requestsOf(pileUp(many, { kind: 'callback' }))).toBeUndefined();
  expect(requestsOf(pileUp(many))).toBeDefined();
});

function factsOf(block: Block, sampled: Partial<SampledCode>) {
  let facts: EventLoopBlock | undefined;
  const code = { functionName: 'part', stackTrace: '' } as NonNullable<SampledCode['code']>;
  new EndedBlock(block, undefined, clock).complete(
    () => 0,
    (_, done) => done({ samples: 4, code, ...sampled }, []),
    guard,
    (told) => {
      facts = told;
    },
  );
  return facts as EventLoopBlock;
}

test('a function that is one of many does not name a pile-up of requests; another does', () => {
  const many = [run('/posts', 90), run('/posts', 90)];
  const ofOther = [run('/posts', 90), run('/users', 90)];

  const rare = factsOf(pileUp(many), { isRare: true });
  expect(rare.code).toBeUndefined();
  expect(rare.requests).toMatchObject({ operation: 'GET /posts' });
  expect(whyUnknown(rare)).toBe('many requests at once');
  expect(factsOf(pileUp(many), {})).toMatchObject({ code: { functionName: 'part' } });
  expect(factsOf(pileUp(many), {}).requests).toBeUndefined();
  expect(factsOf(pileUp(ofOther), { isRare: true }).code).toBeDefined();
});
