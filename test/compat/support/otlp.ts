/** OTLP over HTTP, as JSON or as protobuf. */
import { HttpReceiver } from '../../../tools/http-receiver.cjs';
import { readMetrics, readSpans } from '../../../tools/otlp.cjs';
import { METRICS, readMessage, TRACES } from './otlp-protobuf.ts';
import type { Receiver } from './receiver.ts';

const JSON_START = '{'.charCodeAt(0);

export async function startOtlp(): Promise<Receiver> {
  const receiver = await new HttpReceiver().start();
  const read = (path: string, message: typeof TRACES) =>
    receiver
      .bodies(path)
      .map((body) =>
        body[0] === JSON_START ? JSON.parse(String(body)) : readMessage(body, message),
      );
  return {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    },
    spans: () => readSpans(read('/v1/traces', TRACES)),
    metricNames: () => new Set(readMetrics(read('/v1/metrics', METRICS)).map(({ name }) => name)),
    close: () => receiver.close(),
  };
}
