// Promises: what EventLoopSpanProcessor adds to a span that never met a block, from its start to its end, in nanoseconds: a provider
// with it and one without take turns in one process. And what a call of `health()` takes. Run it with the Node.js to be weighed. Needs the build: `npm run build` first.
//
//   npm run bench:span-processor
//   .matrix/node-24/node_modules/.bin/node bench/span-processor.mjs --rounds 200
import { parseArgs } from 'node:util';
import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import { EventLoopInstrumentation, EventLoopSpanProcessor } from 'opentelemetry-instrumentation-event-loop';
import { printMachine } from './machine.mjs';
import { estimate, interval } from './statistics.mjs';
import { table } from './table.mjs';

const SPANS = 5000;
/** Open at the same time, as in a service with that many requests under way. */
const OPEN = 50;
const WARM_UP_ROUNDS = 20;

const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '100' } } });

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

printMachine(`${options.rounds} rounds of ${SPANS} spans with it and without, ${OPEN} open at a time`);
const rows = [];
for (const kind of [SpanKind.INTERNAL, SpanKind.CLIENT, SpanKind.SERVER]) {
  const added = [];
  const base = [];
  for (let round = -WARM_UP_ROUNDS; round < Number(options.rounds); round++) {
    const order = round % 2 === 0 ? [without, withIt] : [withIt, without];
    const nanos = new Map(order.map((tracer) => [tracer, measure(tracer, kind)]));
    // Lets the loop turn, so that nothing of this looks like a block.
    await new Promise((resolve) => setImmediate(resolve));
    if (round < 0) continue;
    base.push(nanos.get(without));
    added.push(nanos.get(withIt) - nanos.get(without));
  }
  rows.push([SpanKind[kind], interval(estimate(base), 0), interval(estimate(added), 0)]);
}
console.log(`\nNode.js ${process.versions.node}: nanoseconds a span, median [95 % interval]`);
console.log(table(['kind', 'without', 'added'], rows));

const CALLS = 2000;
const calls = [];
for (let round = -WARM_UP_ROUNDS; round < Number(options.rounds); round++) {
  const start = process.hrtime.bigint();
  for (let i = 0; i < CALLS; i++) instrumentation.health();
  const nanos = Number(process.hrtime.bigint() - start) / CALLS;
  await new Promise((resolve) => setTimeout(resolve, 5));
  if (round >= 0) calls.push(nanos);
}
console.log(`\nhealth(): ${interval(estimate(calls), 0)} ns a call`);
instrumentation.disable();
