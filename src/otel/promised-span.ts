/**
 * A span whose ids are given away before it starts. OpenTelemetry has no call for that. The SDK's
 * tracer asks an id generator and a sampler that it keeps in private fields, alike in both lines:
 * both are asked at once, and the span is started later by a tracer that has their answers.
 */
import {
  type Attributes,
  type Context,
  isSpanContextValid,
  type Link,
  type SpanContext,
  type SpanKind,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';

/** The decision of a sampler whose span is exported: `SamplingDecision` of the SDK. */
const RECORD_AND_SAMPLED = 2;

/** As far as they are asked: `IdGenerator` and `Sampler` of the SDK. */
interface SdkTracer {
  readonly _idGenerator?: { generateSpanId(): string; generateTraceId(): string };
  readonly _sampler?: {
    shouldSample(
      context: Context,
      traceId: string,
      name: string,
      kind: SpanKind,
      attributes: Attributes,
      links: Link[],
    ): { readonly decision: number; readonly traceState?: SpanContext['traceState'] };
  };
}

export interface PromisedSpan {
  readonly spanContext: SpanContext;
  /** What it starts in the same context has these ids. For one span only. */
  readonly tracer: Tracer;
}

/**
 * @returns undefined if the span would not be sampled, and for another SDK
 * @throws what the sampler throws
 */
export function promiseSpan(
  tracer: Tracer,
  name: string,
  options: { readonly kind: SpanKind; readonly attributes: Attributes; readonly links: Link[] },
  context: Context,
): PromisedSpan | undefined {
  const { _idGenerator: generator, _sampler: sampler } = tracer as SdkTracer;
  if (generator === undefined || sampler === undefined) return undefined;
  const around = trace.getSpanContext(context);
  const parent = around !== undefined && isSpanContextValid(around) ? around : undefined;
  const traceId = parent?.traceId ?? generator.generateTraceId();
  const { kind, attributes, links } = options;
  const sampled = sampler.shouldSample(context, traceId, name, kind, attributes, links);
  if (sampled.decision !== RECORD_AND_SAMPLED) return undefined;
  const spanId = generator.generateSpanId();
  const traceState = sampled.traceState ?? parent?.traceState;
  const answers: SdkTracer = {
    _idGenerator: { generateSpanId: () => spanId, generateTraceId: () => traceId },
    _sampler: { shouldSample: () => sampled },
  };
  return {
    spanContext: {
      traceId,
      spanId,
      traceFlags: TraceFlags.SAMPLED,
      ...(traceState && { traceState }),
    },
    tracer: Object.assign(Object.create(tracer), answers),
  };
}
