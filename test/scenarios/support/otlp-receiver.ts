/** Takes OTLP over HTTP as JSON, in the process of the tests, which is not the one that blocks. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export type Attributes = Record<string, unknown>;

export interface ReceivedSpan {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  seconds: number;
  attributes: Attributes;
  scope: string;
  resource: Attributes;
}

interface KeyValue {
  key: string;
  value: Record<string, unknown>;
}
interface Scoped {
  scope: { name: string };
  spans?: (Omit<ReceivedSpan, 'attributes'> & {
    startTimeUnixNano: string;
    endTimeUnixNano: string;
    attributes: KeyValue[];
  })[];
  metrics?: { name: string }[];
}
interface Payload {
  resourceSpans?: { resource: { attributes: KeyValue[] }; scopeSpans: Scoped[] }[];
  resourceMetrics?: { scopeMetrics: Scoped[] }[];
}

const plain = (attributes: KeyValue[]): Attributes =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly metricNames = new Set<string>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      this.#take((await json(request)) as Payload);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  }

  static async listen(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  /** What has a process send its telemetry here. */
  get env(): Record<string, string> {
    return {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    };
  }

  /** The spans named so. */
  named(name: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #take({ resourceSpans = [], resourceMetrics = [] }: Payload): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      for (const { scope, spans = [] } of scopeSpans) {
        for (const span of spans) {
          this.spans.push({
            ...span,
            seconds: (Number(span.endTimeUnixNano) - Number(span.startTimeUnixNano)) / 1e9,
            attributes: plain(span.attributes),
            scope: scope.name,
            resource: plain(resource.attributes),
          });
        }
      }
    }
    for (const { scopeMetrics } of resourceMetrics) {
      for (const { metrics = [] } of scopeMetrics)
        for (const { name } of metrics) this.metricNames.add(name);
    }
  }
}
