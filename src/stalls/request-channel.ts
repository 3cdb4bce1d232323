/**
 * Entry spans that have ended, for subscribers in this process: the console report and the page.
 * Costs nothing without a subscriber.
 */
import { channel } from 'node:diagnostics_channel';
import type { HrTime, Span } from '@opentelemetry/api';
import { hrTimeToMillis } from '../otel/hr-time.ts';
import type { Operation } from '../otel/operation.ts';
import { PACKAGE_NAME } from '../version.ts';
import type { NamedBlock, Wait } from './stalled-requests.ts';

/**
 * Name of the `node:diagnostics_channel` on which each entry span (SERVER, CONSUMER) is published
 * once, as a {@link RequestMessage}: when it has ended, and the functions that it waited for are
 * known as far as they will be.
 */
export const REQUEST_CHANNEL = `${PACKAGE_NAME}:request`;

/** What is published on {@link REQUEST_CHANNEL}. */
export interface RequestMessage {
  /** `GET /report`, else the name of the span. */
  readonly route: string;
  readonly traceId: string;
  /** Unix time. */
  readonly startTimeMillis: number;
  readonly durationMillis: number;
  /** The waits, added up. */
  readonly stalledMillis: number;
  /** One for each block that it waited for. */
  readonly waits: readonly { readonly block: NamedBlock; readonly millis: number }[];
}

const requests = channel(REQUEST_CHANNEL);

export const hasRequestSubscribers = () => requests.hasSubscribers;

/**
 * Reads what is needed of the span, which is not kept.
 * @returns publishes it
 */
export function requestReport(
  span: Span & { readonly startTime: HrTime; readonly endTime: HrTime },
  { name = '' }: Operation,
  stalledMillis: number,
  waits: readonly Wait[],
): () => void {
  const startTimeMillis = hrTimeToMillis(span.startTime);
  const durationMillis = hrTimeToMillis(span.endTime) - startTimeMillis;
  const { traceId } = span.spanContext();
  return () => {
    if (!requests.hasSubscribers) return;
    const message: RequestMessage = {
      route: name,
      traceId,
      startTimeMillis,
      durationMillis,
      stalledMillis,
      waits: waits.map(({ cause, millis }) => ({ block: cause.block ?? {}, millis })),
    };
    requests.publish(message);
  };
}
