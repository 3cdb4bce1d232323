/**
 * Entry spans that have ended, for subscribers in this process: the console report and the page.
 * Costs nothing without a subscriber.
 */
import { channel } from 'node:diagnostics_channel';
import { copies } from '../support/copies.ts';
import type { CodePlace } from '../types.ts';
import { PACKAGE_NAME } from '../version.ts';

/**
 * Name of the `node:diagnostics_channel` on which each entry span (SERVER, CONSUMER) is published
 * once, as a {@link RequestMessage}: when it has ended, and the functions that it waited for are
 * known as far as they will be.
 */
export const REQUEST_CHANNEL = `${PACKAGE_NAME}:request`;

/** What is known of a block when it is reported; all are absent if it never is. */
export interface NamedBlock {
  readonly startTimeMillis?: number;
  readonly code?: CodePlace;
  /** `keyOf(code)`: to make it again for each request that waited takes longer than the rest. */
  readonly key?: string;
}

export interface RequestMessage {
  /** `GET /report`, else the name of the span. */
  readonly route: string;
  /** Absent without an SDK. */
  readonly traceId?: string | undefined;
  /** Unix time. */
  readonly startTimeMillis: number;
  readonly durationMillis: number;
  /** The waits of its span, added up. */
  readonly stalledMillis: number;
  /** Those before its span began, added up. */
  readonly queuedMillis: number;
  /** The same for each function. */
  readonly functions: readonly FunctionWait[];
  /** One for each block that it waited for: a thousand, perhaps. To be asked at once. */
  waits(): readonly RequestWait[];
}

export interface FunctionWait {
  /** Empty if the code is not known. */
  readonly key: string;
  readonly code?: CodePlace;
  readonly stalledMillis: number;
  readonly queuedMillis: number;
}

export interface RequestWait {
  readonly block: NamedBlock;
  readonly millis: number;
  /** It waited before its span began. This is an estimate. */
  readonly isQueued?: true;
}

const requests = channel(REQUEST_CHANNEL);

/** From now on requests are published: there is a span processor. */
export function announceRequests(): void {
  copies().areRequestsKnown = true;
}

export const hasRequestSubscribers = () => requests.hasSubscribers;

export function publishRequest(message: RequestMessage): void {
  requests.publish(message);
}
