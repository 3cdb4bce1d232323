/**
 * Exports the span or the log event of a block that has not ended, while its thread is still
 * blocked: in a thread of its own, with the application's own OTLP exporters. Started by the
 * watchdog thread when there is something to report, bundled into a string like it.
 */
import { randomBytes } from 'node:crypto';
import { workerData } from 'node:worker_threads';
import type { SpanContext } from '@opentelemetry/api';
import { type BlockedThread, blockAttributes } from '../../core/emit/block-attributes.ts';
import type { OngoingFacts } from '../../core/emit/ongoing-facts.ts';
import { toHrTime } from '../../otel/hr-time.ts';
import { SEVERITY_WARN } from '../../otel/logger.ts';
import {
  ATTR_EVENT_LOOP_BLOCK_DURATION,
  EVENT_EVENT_LOOP_BLOCKED,
  SPAN_EVENT_LOOP_BLOCKED,
} from '../../semconv.ts';
import { ApplicationPackages } from '../../support/application-packages.ts';
import { attempt } from '../../support/guard.ts';
import { PACKAGE_NAME, PACKAGE_VERSION } from '../../version.ts';
import { exporterPackages, type Signal } from './otlp-environment.ts';

export interface ExporterData {
  readonly facts: OngoingFacts;
  readonly thread: BlockedThread;
  /** Unix time of the report: until then it has lasted. */
  readonly endTimeMillis: number;
  readonly hasSpan: boolean;
  readonly eventBody?: string;
  /** Files to resolve the exporters from. */
  readonly resolveFrom: readonly string[];
}

interface Exporter {
  export(items: unknown[], done: (result: { code: number }) => void): void;
  shutdown(): Promise<void>;
}

const CLASSES: Readonly<Record<Signal, string>> = {
  traces: 'OTLPTraceExporter',
  logs: 'OTLPLogExporter',
};

function loadExporter(signal: Signal, resolveFrom: readonly string[]): Exporter | undefined {
  const packages = new ApplicationPackages(resolveFrom);
  for (const name of exporterPackages(process.env, signal)) {
    const load = () => packages.load<Record<string, new () => Exporter>>(name);
    const Class = attempt(load)?.[CLASSES[signal]];
    const exporter = Class && attempt(() => new Class());
    if (exporter !== undefined) return exporter;
  }
  return undefined;
}

function toReadableSpan({ facts, thread, endTimeMillis }: ExporterData): unknown {
  const { parent } = facts;
  const context: SpanContext = {
    traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    traceFlags: 1,
  };
  return {
    name: SPAN_EVENT_LOOP_BLOCKED,
    kind: 0,
    spanContext: () => context,
    parentSpanContext: parent,
    startTime: toHrTime(facts.startTimeMillis),
    endTime: toHrTime(endTimeMillis),
    duration: toHrTime(endTimeMillis - facts.startTimeMillis),
    status: { code: 0 },
    attributes: blockAttributes({ ...facts, isOngoing: true }, thread),
    links: [],
    events: [],
    ended: true,
    ...originOf(facts),
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function toReadableLogRecord({ facts, thread, endTimeMillis, eventBody }: ExporterData): unknown {
  return {
    hrTime: toHrTime(facts.startTimeMillis),
    hrTimeObserved: toHrTime(endTimeMillis),
    spanContext: facts.parent,
    severityNumber: SEVERITY_WARN,
    severityText: 'WARN',
    body: eventBody,
    eventName: EVENT_EVENT_LOOP_BLOCKED,
    attributes: {
      ...blockAttributes({ ...facts, isOngoing: true }, thread),
      [ATTR_EVENT_LOOP_BLOCK_DURATION]: (endTimeMillis - facts.startTimeMillis) / 1000,
    },
    ...originOf(facts),
    droppedAttributesCount: 0,
  };
}

function originOf({ resource = {} }: OngoingFacts) {
  return {
    resource: { attributes: resource, asyncAttributesPending: false },
    instrumentationScope: { name: PACKAGE_NAME, version: PACKAGE_VERSION },
  };
}

function send(signal: Signal, item: unknown): void {
  const exporter = loadExporter(signal, data.resolveFrom);
  exporter?.export([item], () => void exporter.shutdown().catch(() => {}));
}

const data = workerData as ExporterData;
if (data.hasSpan) send('traces', toReadableSpan(data));
if (data.eventBody !== undefined) send('logs', toReadableLogRecord(data));
