/** OTLP, as JSON over HTTP. */
import { startOtlpReceiver } from '../../../demo/otlp-receiver.mjs';
import { readSpans } from '../../../demo/telemetry-reader.mjs';
import type { Receiver } from './receiver.ts';

export async function startOtlp(): Promise<Receiver> {
  const receiver = await startOtlpReceiver();
  return {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
    spans: () => readSpans(receiver.traces()),
    close: () => receiver.close(),
  };
}
