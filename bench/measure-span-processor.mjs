// Promises: what EventLoopSpanProcessor adds to a span that never met a block, from its start to its end, in nanoseconds: a provider with it and one
// without take turns in one process; and what a call of `health()` takes. As JSON on stdout: `node bench/measure-span-processor.mjs <rounds>`.
import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import { EventLoopInstrumentation, EventLoopSpanProcessor } from 'opentelemetry-instrumentation-event-loop';
import { estimate } from './statistics.mjs';

const SPANS = 5000;
/** Open at the same time, as in a service with that many requests under way. */
const OPEN = 50;
const WARM_UP_ROUNDS = 20;

const rounds = Number(process.argv[2]);

class NoReader extends MetricReader {
  async onForceFlush() {}
  async onShutdown() {}
}

const instrumentation = new EventLoopInstrumentation();
instrumentation.setMeterProvider(new MeterProvider({ readers: [new NoReader()] }));

/** As BatchSpanProcessor without a queue. */
const sink = { onStart() {}, onEnd() {}, async forceFlush() {}, async shutdown() {} };
const without = new TracerProvider({ spanProcessors: [sink] }).getTracer('bench');
const withIt = new TracerProvider({ spanProcessors: [new EventLoopSpanProcessor(), sink] }).getTracer(
  'bench',
);

/** Nanoseconds a span. */
function measure(/** @type {import('@opentelemetry/api').Tracer} */ tracer, /** @type {SpanKind} */ kind) {
  const parent = trace.setSpan(ROOT_CONTEXT, tracer.startSpan('parent'));
  const open = Array.from({ length: OPEN }, () => tracer.startSpan('open', { kind }, parent));
  const start = process.hrtime.bigint();
  for (let i = 0; i < SPANS; i++) {
    open[i % OPEN].end();
    open[i % OPEN] = tracer.startSpan('open', { kind }, parent);
  }
  const nanos = Number(process.hrtime.bigint() - start) / SPANS;
  for (const span of open) span.end();
  trace.getSpan(parent)?.end();
  return nanos;
}

const kinds = [];
for (const kind of [SpanKind.INTERNAL, SpanKind.CLIENT, SpanKind.SERVER]) {
  const added = [];
  const base = [];
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    const order = round % 2 === 0 ? [without, withIt] : [withIt, without];
    const nanos = new Map(order.map((tracer) => [tracer, measure(tracer, kind)]));
    // Lets the loop turn, so that nothing of this looks like a block.
    await new Promise((resolve) => setImmediate(resolve));
    if (round < 0) continue;
    base.push(nanos.get(without));
    added.push(nanos.get(withIt) - nanos.get(without));
  }
  kinds.push({ kind: SpanKind[kind], without: estimate(base), added: estimate(added) });
}

const CALLS = 2000;
const calls = [];
for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
  const start = process.hrtime.bigint();
  for (let i = 0; i < CALLS; i++) instrumentation.health();
  const nanos = Number(process.hrtime.bigint() - start) / CALLS;
  await new Promise((resolve) => setTimeout(resolve, 5));
  if (round >= 0) calls.push(nanos);
}
process.stdout.write(JSON.stringify({ kinds, health: estimate(calls) }));
instrumentation.disable();
