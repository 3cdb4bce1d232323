import { setTimeout as wait } from 'node:timers/promises';
import type { Span } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { EventLoopInstrumentation } from 'opentelemetry-instrumentation-event-loop';
import { hashOrders } from './orders';

interface Job {
  endOfBlock: string;
}

const provider = new NodeTracerProvider({
  spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter())],
});
provider.register();
const eventLoop = new EventLoopInstrumentation({
  thresholdMillis: 300,
  unfinishedAfterMillis: 500,
});
eventLoop.setTracerProvider(provider);

function runJob(job: Job): number {
  return hashOrders([], job.endOfBlock); // CALLS
}

function startJob(span: Span, job: Job): void {
  runJob(job); // CALLS
  span.end();
}

async function main(): Promise<void> {
  const [, , endOfBlock = ''] = process.argv;
  const alive = setInterval(() => {}, 1000); // the watchdog thread keeps nothing alive
  await eventLoop.ready();
  clearInterval(alive);
  await wait(100);
  const tracer = provider.getTracer('app');
  tracer.startActiveSpan('job', (span): void => startJob(span, { endOfBlock })); // CALLS
  await wait(100);
  await eventLoop.forceFlush();
  await provider.shutdown();
  eventLoop.disable();
}

main();
