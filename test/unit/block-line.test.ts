import {
  createContextKey,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { attributedRequest } from '../../src/core/emit/attributed-request.ts';
import { blockLine, PLAIN } from '../../src/core/emit/block-line.ts';
import { contextMadeBy } from '../../src/otel/context-marks.ts';
import { findParentsBy } from '../../src/otel/entry-span.ts';
import { operationOf } from '../../src/otel/operation.ts';
import { localParentOf } from '../../src/otel/sdk-internals.ts';
import { STYLED } from '../../src/outputs/console/paint.ts';
import { ADVICE, adviceOf } from '../../src/outputs/summary/advice.ts';
import { duration, percent } from '../../src/support/numbers.ts';
import type { EventLoopBlock } from '../../src/types.ts';

const TRACE = 'a'.repeat(32);
const block = (more: Partial<EventLoopBlock> = {}): EventLoopBlock => ({
  kind: 'callback',
  startTimeMillis: 0,
  durationMillis: 152.4,
  callbacks: 1,
  samples: 1,
  code: {
    functionName: 'hashRow',
    file: '/app/src/report.js',
    line: 31,
    column: 18,
    stackTrace: '',
  },
  ...more,
});
const line = (more?: Partial<EventLoopBlock>, attribution = {}) =>
  blockLine(block(more), attribution, '/app', PLAIN);

test('what is not known is left out', () => {
  expect(line()).toBe('event-loop-blocked 152 ms callback: hashRow (src/report.js:31:18)');
  const { kind: _kind, code: _code, ...unknown } = block();
  expect(blockLine(unknown, {}, '/app', PLAIN)).toBe(
    'event-loop-blocked 152 ms: unknown code (its caller is not on the stack)',
  );
  expect(blockLine({ ...unknown, cause: 'message' }, {}, '/app', PLAIN)).toBe(
    'event-loop-blocked 152 ms: deserializes what a worker thread or child process sent, message',
  );
  const unseen = { ...unknown, asyncResourceType: 'Timeout', samples: 0 };
  expect(blockLine(unseen, {}, '/app', PLAIN)).toBe(
    'event-loop-blocked 152 ms: unknown code of a Timeout (no stack sample came in time)',
  );
  expect(line({ code: { functionName: 'evaluated', stackTrace: '' } })).toMatch(/: evaluated$/);
});

test('a pile-up without a place says what it is made of, and what to do about that', () => {
  const requests = { operation: 'GET /posts', count: 12, share: 0.92 };
  const { code: _code, ...unknown } = block({ kind: 'pile-up', requests });

  expect(blockLine(unknown, {}, '/app', PLAIN)).toBe(
    'event-loop-blocked 152 ms pile-up: at least 12 requests of GET /posts (92 %)',
  );
  expect(adviceOf(unknown)).toBe(ADVICE.requests);
});

test.each([
  ['/app/index.js', 'index.js:1:2'],
  ['/application/index.js', '/application/index.js:1:2'],
  ['/elsewhere/index.js', '/elsewhere/index.js:1:2'],
  ['node:internal/x', 'node:internal/x:1:2'],
  ['webpack://app/./src/a.ts', 'webpack://app/./src/a.ts:1:2'],
])('the place of %s is %s', (file, place) => {
  expect(line({ code: { functionName: 'f', file, line: 1, column: 2, stackTrace: '' } })).toContain(
    `(${place})`,
  );
});

test('names from anywhere neither end the line nor control the terminal', () => {
  const said = line(
    {
      code: {
        functionName: 'a\n\u001b[31mb',
        file: '/app/\r\u202ex.js',
        line: 1,
        column: 1,
        stackTrace: '',
      },
    },
    { operation: `GET /${'x'.repeat(500)}\u0007` },
  );
  expect(said).not.toMatch(/\p{C}/u);
  expect(said).toContain('a\u{fffd}\u{fffd}[31mb');
  expect(said.length).toBeLessThan(250);
});

test.each([
  [1.04, '1.0 ms'],
  [9.96, '10 ms'],
  [152.4, '152 ms'],
  [999.4, '999 ms'],
  [999.6, '1.00 s'],
  [5120, '5.12 s'],
  [59_940, '59.9 s'],
  [61_240, '1 min 1 s'],
  [119_700, '2 min 0 s'],
  [7_384_000, '2 h 3 min'],
])('%f ms are %s', (millis, text) => expect(duration(millis)).toBe(text));

test.each([
  [0, '0 %'],
  [0.0994, '9.9 %'],
  [0.0996, '10 %'],
  [0.8351, '84 %'],
])('%f is %s', (share, text) => expect(percent(share)).toBe(text));

test('colours change nothing but the colours', () => {
  const styled = blockLine(block(), { operation: 'GET /report' }, '/app', STYLED);
  expect(styled).toContain('\u001b[33m');
  expect(blockLine(block({ durationMillis: 1000 }), {}, '/app', STYLED)).toContain('\u001b[31m');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is taken out
  expect(styled.replace(/\u001b\[\d+m/g, '')).toBe(line({}, { operation: 'GET /report' }));
});

describe('a block is attributed to', () => {
  const SUPPRESS = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');
  const RPC = createContextKey('OpenTelemetry SDK Context Key RPC_METADATA');
  const spanContext = { traceId: TRACE, spanId: 'b'.repeat(16), traceFlags: TraceFlags.SAMPLED };
  const inSpan = (span: object) =>
    trace.setSpan(ROOT_CONTEXT, { spanContext: () => spanContext, ...span } as Span);

  test('the name of the span outside of requests, if it has one', () => {
    expect(attributedRequest(inSpan({ name: 'job' }))).toEqual({
      operation: 'job',
      traceId: TRACE,
    });
    expect(attributedRequest(inSpan({}))).toEqual({ operation: undefined, traceId: TRACE });
  });

  test('nobody, but made by a request that had ended', () => {
    const attributes = { 'http.request.method': 'GET', 'http.route': '/lazy' };
    const made = inSpan({ attributes });
    const said = attributedRequest(contextMadeBy(trace.getSpan(made) as Span, made));
    expect(said).toEqual({ madeBy: 'GET /lazy' });
    expect(line({}, said)).toMatch(/, of what GET \/lazy started$/);
  });

  test('nobody, if an exporter is at work in the context of a request', () => {
    expect(attributedRequest(inSpan({ name: 'GET' }).setValue(SUPPRESS, true))).toEqual({});
  });

  const SECRETS = ['12345', 'deadbeefcafe', 'QWxhZGRpbjpvcGVu', 'jane@example.com', 'jane'];
  const METHODS = ['http.request.method', 'http.method'];
  test.each(SECRETS.flatMap((secret) => METHODS.map((method) => [secret, method])))(
    'method and shape, if the path of a request without a route is %s and the attribute %s',
    (secret, method) => {
      const path = `/reset/${secret}`;
      const attributes = {
        [method]: 'POST',
        'url.path': path,
        'url.full': `http://localhost${path}`,
        'http.target': `${path}?next=/`,
      };
      const names = [`POST ${path}`, `HTTP POST ${path}`, path, 'POST'];
      for (const name of names) {
        const span = inSpan({ name, attributes });
        const said = attributedRequest(
          span.setValue(RPC, { type: 'http', span: { name, attributes } }),
        );
        expect(said).toEqual({ operation: 'POST /*/*', traceId: TRACE });
        expect(operationOf({ name, attributes })).toEqual({ name: 'POST /*/*' });
      }
    },
  );

  const http = {
    kind: SpanKind.SERVER,
    name: 'GET',
    attributes: { 'http.request.method': 'GET', 'url.path': '/jobs' },
    spanContext: () => spanContext,
  };
  /** The spans from the innermost to the outermost, in a context of a request. */
  const operationIn = (...line: object[]) => {
    const spans = line.map((each) => ({ spanContext: () => spanContext, ...each }) as Span);
    findParentsBy((span) => spans[spans.indexOf(span) + 1]);
    const inner = trace.setSpan(ROOT_CONTEXT, spans[0] as Span);
    return attributedRequest(inner.setValue(RPC, { type: 'http', span: http })).operation;
  };
  afterEach(() => findParentsBy(localParentOf));

  test('the request, not what is inside of it', () => {
    expect(operationIn({ name: 'middleware - anonymous' }, http)).toBe('GET /*');
    expect(operationIn({ name: 'middleware - anonymous' })).toBe('GET /*');
  });

  test('the message that a consumer works on, also if a request has started that', () => {
    const consumer = { kind: SpanKind.CONSUMER, name: 'orders process' };
    expect(operationIn({ name: 'SELECT' }, consumer)).toBe('orders process');
    expect(operationIn({ name: 'SELECT' }, consumer, http)).toBe('orders process');
  });

  test('an operation of GraphQL, if it has a name', () => {
    const execute = (name?: string) => ({
      name: 'graphql.execute',
      attributes: {
        'graphql.operation.type': 'query',
        ...(name !== undefined && { 'graphql.operation.name': name }),
      },
    });
    expect(operationIn({ name: 'graphql.resolve' }, execute('Orders'), http)).toBe('query Orders');
    expect(operationIn({ name: 'graphql.resolve' }, execute(), http)).toBe('GET /*');
  });

  test('the name that an application has given to the span of a request', () => {
    expect(operationOf({ ...http, name: 'import of rows' })).toEqual({ name: 'import of rows' });
  });
});
