/** The SDK's classes under names that both OpenTelemetry lines have. */
import * as sdk from '@opentelemetry/sdk-trace';

export type { ReadableSpan } from '@opentelemetry/sdk-trace';
export const { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } = sdk;
