/**
 * Exports the span of a block that has not ended, while the main thread is still held: a thread of its own, with the application's
 * own OTLP exporter. Started by the watchdog when there is something to report, bundled into a string like it.
 */
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { workerData } from 'node:worker_threads';
import type { HrTime, SpanContext } from '@opentelemetry/api';
import type { CaptureReply } from '../capture/watchdog-protocol.ts';
import { toPath } from '../file-url.ts';
import { toHrTime } from '../hr-time.ts';
import {
  ATTR_CODE_COLUMN_NUMBER,
  ATTR_CODE_FILE_PATH,
  ATTR_CODE_FUNCTION_NAME,
  ATTR_CODE_LINE_NUMBER,
  ATTR_CODE_STACKTRACE,
  ATTR_EVENT_LOOP_ASYNC_RESOURCE_TYPE,
  ATTR_EVENT_LOOP_BLOCK_CALLBACKS,
  ATTR_EVENT_LOOP_BLOCK_KIND,
  ATTR_EVENT_LOOP_BLOCK_UNFINISHED,
  ATTR_THREAD_ID,
  ATTR_THREAD_NAME,
  SPAN_EVENT_LOOP_BLOCKED,
} from '../semconv.ts';
import { codeInSourceNow } from '../source-maps/code-in-source.ts';
import { PACKAGE_NAME, PACKAGE_VERSION } from '../version.ts';
import { exporterPackages } from './otlp-environment.ts';

export interface ReporterData {
  readonly reply: CaptureReply;
  /** Unix time of the report: until then it has lasted. */
  readonly endTimeMillis: number;
  /** Files to resolve the exporter from. */
  readonly resolveFrom: readonly string[];
  /** Positions are those of the source, where there is a source map. */
  readonly sourceMaps?: boolean;
}

interface Exporter {
  export(spans: unknown[], done: (result: { code: number }) => void): void;
  shutdown(): Promise<void>;
}

/** Packages that bring an exporter with them, where a package manager does not hoist it. */
const VIA = ['@opentelemetry/sdk-node', '@opentelemetry/auto-instrumentations-node'];

function loadExporter(resolveFrom: readonly string[]): Exporter | undefined {
  const origins = [...resolveFrom];
  for (const from of origins) {
    const load = createRequire(from);
    for (const name of exporterPackages(process.env)) {
      try {
        const { OTLPTraceExporter } = load(name) as { OTLPTraceExporter: new () => Exporter };
        return new OTLPTraceExporter();
      } catch {
        // Not here: elsewhere, or another one.
      }
    }
    for (const name of VIA) {
      try {
        const found = load.resolve(name);
        if (!origins.includes(found)) origins.push(found);
      } catch {
        // Not installed.
      }
    }
  }
  return undefined;
}

/** What the SDK's exporters read of a span. */
function toReadableSpan({ reply, endTimeMillis }: ReporterData): unknown {
  const startTime: HrTime = toHrTime(reply.startTimeMillis);
  const parent: SpanContext | undefined =
    reply.traceId === undefined || reply.spanId === undefined
      ? undefined
      : { traceId: reply.traceId, spanId: reply.spanId, traceFlags: reply.traceFlags ?? 1 };
  const context: SpanContext = {
    traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    traceFlags: 1,
  };
  const attributes: Record<string, unknown> = {
    [ATTR_EVENT_LOOP_BLOCK_KIND]: reply.block.kind,
    [ATTR_EVENT_LOOP_BLOCK_CALLBACKS]: reply.block.callbacks,
    [ATTR_EVENT_LOOP_ASYNC_RESOURCE_TYPE]: reply.block.resourceType,
    [ATTR_THREAD_ID]: 0,
    [ATTR_THREAD_NAME]: 'main',
    [ATTR_EVENT_LOOP_BLOCK_UNFINISHED]: true,
    [ATTR_CODE_FUNCTION_NAME]: reply.functionName,
    [ATTR_CODE_FILE_PATH]: reply.file === undefined ? undefined : toPath(reply.file),
    [ATTR_CODE_LINE_NUMBER]: reply.line,
    [ATTR_CODE_COLUMN_NUMBER]: reply.column,
    [ATTR_CODE_STACKTRACE]: reply.stackTrace,
  };
  for (const [name, value] of Object.entries(attributes)) if (value === undefined) delete attributes[name];
  return {
    name: SPAN_EVENT_LOOP_BLOCKED,
    kind: 0,
    spanContext: () => context,
    parentSpanContext: parent,
    startTime,
    endTime: toHrTime(endTimeMillis),
    duration: toHrTime(endTimeMillis - reply.startTimeMillis),
    status: { code: 0 },
    attributes,
    links: [],
    events: [],
    ended: true,
    resource: { attributes: reply.resource ?? {}, asyncAttributesPending: false },
    instrumentationScope: { name: PACKAGE_NAME, version: PACKAGE_VERSION },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

const { sourceMaps, ...given } = workerData as ReporterData;
const data = sourceMaps === true ? { ...given, reply: codeInSourceNow(given.reply) } : given;
const exporter = loadExporter(data.resolveFrom);
exporter?.export([toReadableSpan(data)], () => void exporter.shutdown().catch(() => {}));
