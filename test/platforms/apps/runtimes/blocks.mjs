/**
 * Imports, constructs, enables, blocks, disables: what comes of it, as one line of JSON. Runs on
 * any runtime that has the modules of Node.js.
 */
import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { context, DiagLogLevel, diag, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import {
  EventLoopInstrumentation,
  EventLoopSpanProcessor,
} from 'opentelemetry-instrumentation-event-loop';
import times from './thread-times.cjs';

const PACKAGE = 'opentelemetry-instrumentation-event-loop';
const BLOCK_MILLIS = 300;
const ROUNDS = 3;

const messages = [];
const log = (level) => (_name, message) => messages.push(`${level}: ${message}`);
const none = () => {};
diag.setLogger(
  { error: log('error'), warn: log('warn'), info: log('info'), debug: none, verbose: none },
  DiagLogLevel.INFO,
);

function hashAll() {
  const isRunning = times.running(BLOCK_MILLIS);
  let hash = 0;
  // Nearly all of its time is its own, not that of the clock.
  while (isRunning()) for (let i = 0; i < 200_000; i++) hash = (hash * 31 + i) | 0;
  return hash;
}

export async function measure() {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new EventLoopSpanProcessor(), new SimpleSpanProcessor(exporter)];
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const instrumentation = new EventLoopInstrumentation();
  await instrumentation.ready();
  await pause(200);

  const tracer = trace.getTracer('app');
  for (let round = 0; round < ROUNDS; round++) {
    tracer.startActiveSpan('in a span', (span) => {
      hashAll();
      span.end();
    });
    await pause(200);
    await new Promise((resolve) => setTimeout(() => resolve(hashAll()), 20));
    await pause(200);
  }
  const health = instrumentation.health();
  await instrumentation.forceFlush();

  for (let i = 0; i < 20; i++) {
    instrumentation.disable();
    instrumentation.enable();
  }
  instrumentation.disable();
  const logged = [...messages];
  // The other module format as well, which logs for itself.
  new (createRequire(import.meta.url)(PACKAGE).EventLoopInstrumentation)().disable();

  const spans = exporter.getFinishedSpans();
  return {
    blocks: spans.filter(({ name }) => name === 'event-loop-blocked').length,
    health: {
      ...health,
      knowsUtilization: !Number.isNaN(health.utilization),
    },
    messages: logged,
  };
}
