/** What `dd-trace` sends to its agent: traces as MessagePack, with trace ids in two halves. */
import { createRequire } from 'node:module';
import path from 'node:path';
import { HttpReceiver } from '../../../tools/http-receiver.cjs';
import type { Span } from '../../../tools/otlp.cjs';
import { KINDS, type Receiver } from './receiver.ts';

/** Small ones are numbers. */
type Integer = number | bigint;

interface DatadogSpan {
  trace_id: Integer;
  span_id: Integer;
  parent_id: Integer;
  name: string;
  start: Integer;
  duration: Integer;
  meta: Record<string, string>;
  metrics: Record<string, number>;
}

export async function startDatadog(folder: string): Promise<Receiver & { profiles(): number }> {
  const { decode } = createRequire(path.join(folder, 'package.json'))('@msgpack/msgpack');
  const receiver = await new HttpReceiver().start();
  return {
    env: { DD_TRACE_AGENT_URL: receiver.url, DD_TRACE_STARTUP_LOGS: 'false' },
    spans: () =>
      receiver
        .bodies('/v0.4/traces')
        .flatMap((body): DatadogSpan[][] => decode(body, { useBigInt64: true }))
        .flatMap(readTrace),
    profiles: () => receiver.bodies('/profiling/v1/input').length,
    close: () => receiver.close(),
  };
}

function readTrace(spans: DatadogSpan[]): Span[] {
  // only the first span of a chunk has the upper half
  const upper = spans[0]?.meta['_dd.p.tid'] ?? '';
  return spans.map((span) => ({
    traceId: `${upper}${hex(span.trace_id)}`,
    spanId: hex(span.span_id),
    parentSpanId: BigInt(span.parent_id) === 0n ? undefined : hex(span.parent_id),
    name: span.name,
    kind: KINDS.indexOf(span.meta['span.kind'] ?? 'internal'),
    // it does not say which instrumentation made a span
    scope: 'opentelemetry-instrumentation-event-loop',
    start: Number(span.start) / 1e6,
    end: (Number(span.start) + Number(span.duration)) / 1e6,
    seconds: Number(span.duration) / 1e9,
    attributes: { ...span.meta, ...span.metrics },
    links: [],
    resource: {},
  }));
}

const hex = (id: Integer) => id.toString(16).padStart(16, '0');
