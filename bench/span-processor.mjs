// Guarantees: what EventLoopSpanProcessor adds to a span that never met a block, and what a call of
// `health()` takes; see README.md.
//
//   npm run bench -- span-processor --rounds 200 --node .matrix/node-24/node_modules/.bin/node
import { estimate, interval } from '../tools/statistics.cjs';
import { answerInFreshProcess, measureInFreshProcess } from './support/fresh-process.mjs';

const SPANS = 5000;
/** Of `health()`. */
const CALLS = 2000;
/** Open at the same time, as in a service with that many requests under way. */
const OPEN = 50;
const WARM_UP_ROUNDS = 20;

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'span-processor',
  about: 'ns that EventLoopSpanProcessor adds to a span; a call of health()',
  minutes: 1,
  options: { rounds: { type: 'string', default: '100' } },
  async run({ nodes, options, report }) {
    for (const { path, version } of nodes) {
      const measured = measureInFreshProcess(import.meta.url, path, [options.rounds]);
      report.table(
        `Node.js ${version}: nanoseconds a span, median [95 % interval]`,
        ['kind', 'without', 'added'],
        measured.kinds.map((/** @type {any} */ { kind, without, added }) => [
          kind,
          interval(without, 0),
          interval(added, 0),
        ]),
        measured,
      );
      report.note(`health(): ${interval(measured.health, 0)} ns a call`);
    }
  },
};

await answerInFreshProcess(import.meta.url, measure);

/**
 * A provider with EventLoopSpanProcessor and one without take turns in one process: nanoseconds
 * from the start of a span that meets no block to its end.
 */
async function measure(/** @type {string} */ roundCount) {
  const { ROOT_CONTEXT, SpanKind, trace } = await import('@opentelemetry/api');
  const { MeterProvider, MetricReader } = await import('@opentelemetry/sdk-metrics');
  const { TracerProvider } = await import('@opentelemetry/sdk-trace');
  const { EventLoopInstrumentation, EventLoopSpanProcessor } = await import(
    'opentelemetry-instrumentation-event-loop'
  );
  const rounds = Number(roundCount);

  class NoReader extends MetricReader {
    async onForceFlush() {}
    async onShutdown() {}
  }

  const instrumentation = new EventLoopInstrumentation();
  instrumentation.setMeterProvider(new MeterProvider({ readers: [new NoReader()] }));

  /** As BatchSpanProcessor without a queue. */
  const sink = { onStart() {}, onEnd() {}, async forceFlush() {}, async shutdown() {} };
  const without = new TracerProvider({ spanProcessors: [sink] }).getTracer('bench');
  const withIt = new TracerProvider({
    spanProcessors: [new EventLoopSpanProcessor(), sink],
  }).getTracer('bench');

  /** Nanoseconds a span. */
  function nanosOfSpan(
    /** @type {import('@opentelemetry/api').Tracer} */ tracer,
    /** @type {import('@opentelemetry/api').SpanKind} */ kind,
  ) {
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
      const nanos = new Map(order.map((tracer) => [tracer, nanosOfSpan(tracer, kind)]));
      // Lets the loop turn, so that nothing of this is a block.
      await new Promise((resolve) => setImmediate(resolve));
      if (round < 0) continue;
      base.push(nanos.get(without));
      added.push(nanos.get(withIt) - nanos.get(without));
    }
    kinds.push({ kind: SpanKind[kind], without: estimate(base), added: estimate(added) });
  }

  const calls = [];
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    const start = process.hrtime.bigint();
    for (let i = 0; i < CALLS; i++) instrumentation.health();
    const nanos = Number(process.hrtime.bigint() - start) / CALLS;
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (round >= 0) calls.push(nanos);
  }
  return { kinds, health: estimate(calls) };
}
