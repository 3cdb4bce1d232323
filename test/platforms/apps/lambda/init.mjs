/**
 * Stands in for the preload of the OpenTelemetry layer: an SDK that asks `configureTracer` for its
 * configuration, adds its exporter if no span processor is configured or one is named, and
 * registers itself and the instrumentation of Lambda functions.
 */
import { metrics } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { AwsLambdaInstrumentation } from '@opentelemetry/instrumentation-aws-lambda';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';

const batch = () => new BatchSpanProcessor(new OTLPTraceExporter());
const config = globalThis.configureTracer?.({ spanProcessors: [] }) ?? { spanProcessors: [] };
if (process.env.OTEL_TRACES_EXPORTER === 'otlp') config.spanProcessors.push(batch());
if (config.spanProcessors.length === 0) config.spanProcessors.push(batch());
const tracerProvider = new NodeTracerProvider(config);
tracerProvider.register();

const reader = new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter() });
const meterProvider = new MeterProvider({ readers: [reader] });
metrics.setGlobalMeterProvider(meterProvider);
registerInstrumentations({
  instrumentations: [new AwsLambdaInstrumentation()],
  tracerProvider,
  meterProvider,
});
