/** Modules that plain scripts use as well. */
declare module '*/otlp-receiver.mjs' {
  export function startOtlpReceiver(): Promise<{
    url: string;
    traces(): object[];
    close(): void;
  }>;
}

declare module '*/telemetry-reader.mjs' {
  export interface ReadSpan {
    traceId: string;
    spanId: string;
    parentSpanId: string | undefined;
    name: string;
    kind: number;
    scope: string;
    start: number;
    end: number;
    attributes: Record<string, string | number | boolean>;
    links: { traceId: string; spanId: string }[];
  }
  export function readSpans(requests: object[]): ReadSpan[];
}
