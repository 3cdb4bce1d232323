/** The same as ES modules, so that bundlers resolve this package as one. */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { EventLoopInstrumentation } from 'opentelemetry-instrumentation-event-loop';

const provider = new NodeTracerProvider({
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
});
provider.register();
registerInstrumentations({
  instrumentations: [new HttpInstrumentation(), new EventLoopInstrumentation()],
});

export const shutdown = () => provider.shutdown();
