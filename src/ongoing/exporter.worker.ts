/**
 * Exports the span of a block that has not ended, while the main thread is still blocked: a thread
 * of its own, with the application's own OTLP exporter. Started by the watchdog thread when there
 * is something to report, bundled into a string like it.
 */
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { workerData } from 'node:worker_threads';
import type { SpanContext } from '@opentelemetry/api';
import { type BlockedThread, blockAttributes } from '../block-attributes.ts';
import { toHrTime } from '../otel/hr-time.ts';
import { SPAN_EVENT_LOOP_BLOCKED } from '../semconv.ts';
import { PACKAGE_NAME, PACKAGE_VERSION } from '../version.ts';
import type { OngoingFacts } from './ongoing-facts.ts';
import { exporterPackages } from './otlp-environment.ts';

/** Stacks can be captured there only. */
const MAIN_THREAD: BlockedThread = { id: 0, name: 'main' };

export interface ExporterData {
  readonly facts: OngoingFacts;
  /** Unix time of the report: until then it has lasted. */
  readonly endTimeMillis: number;
  /** Files to resolve the exporter from. */
  readonly resolveFrom: readonly string[];
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
function toReadableSpan({ facts, endTimeMillis }: ExporterData): unknown {
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
    attributes: blockAttributes({ ...facts, isOngoing: true }, MAIN_THREAD),
    links: [],
    events: [],
    ended: true,
    resource: { attributes: facts.resource ?? {}, asyncAttributesPending: false },
    instrumentationScope: { name: PACKAGE_NAME, version: PACKAGE_VERSION },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

const data = workerData as ExporterData;
const exporter = loadExporter(data.resolveFrom);
exporter?.export([toReadableSpan(data)], () => void exporter.shutdown().catch(() => {}));
