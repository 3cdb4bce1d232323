/**
 * The three public channels of `node:diagnostics_channel`. The outputs of this package (console,
 * report page, recording, `/testing`) are told by them, and so are those of applications.
 *
 * Guarantees: without a subscriber nothing is made for a channel. What takes time is a method of
 * the message.
 */
import { channel } from 'node:diagnostics_channel';
import type { Context } from '@opentelemetry/api';
import type { AttributedRequest, CodePlace, EventLoopBlock, SampledStack } from './types.ts';
import { PACKAGE_NAME } from './version.ts';

/**
 * Name of the `node:diagnostics_channel` on which every block is published once it has ended, as a
 * {@link BlockMessage}: also those that get no span, because nothing is sampled or there is no SDK.
 */
export const BLOCK_CHANNEL = `${PACKAGE_NAME}:block`;

/**
 * Name of the `node:diagnostics_channel` on which each entry span (SERVER, CONSUMER) is published
 * once, as a {@link RequestMessage}: when it has ended, and the functions that it waited for are
 * known as far as they will be. Needs `EventLoopSpanProcessor`.
 */
export const REQUEST_CHANNEL = `${PACKAGE_NAME}:request`;

/**
 * Name of the `node:diagnostics_channel` on which each sample of the lag is published, as a
 * {@link LagMessage}: 50 a second by default, fewer while the event loop idles.
 */
export const LAG_CHANNEL = `${PACKAGE_NAME}:lag`;

/** What is published on {@link BLOCK_CHANNEL}. */
export interface BlockMessage {
  readonly block: EventLoopBlock;
  /** The context that the block is attributed to: `trace.getSpan(context)` is the blocking span. */
  readonly context: Context;
  /** It gets neither a span nor an event: `expectBlock` or `ignoreBlockHook`. Absent otherwise. */
  readonly ignored?: true;
  /**
   * In a recording of `/testing`: for how many milliseconds the thread waited for a CPU in it, at
   * least and at most.
   */
  readonly runDelayMillis?: { readonly atLeast: number; readonly atMost: number };
  /** The request that the block is attributed to, in words. */
  request(): AttributedRequest;
  /** The stack samples of the block. */
  stacks(): readonly SampledStack[];
  /**
   * What the block was explained from, for a bug report: an object for `JSON.stringify`, as the
   * option `recordFile` writes it. It has a `version`: its fields change when the rules do.
   */
  evidence(options?: EvidenceOptions): object;
}

export interface EvidenceOptions {
  /**
   * `false`: functions and the parts of paths are numbered instead of named.
   * @default true
   */
  names?: boolean;
  /**
   * Every second, third… stack sample only.
   * @default 1
   */
  every?: number;
}

/** What is published on {@link REQUEST_CHANNEL}. */
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

/** How long a request waited for one function. */
export interface FunctionWait {
  /** Blocks of one function have one key. Empty if the code is not known. */
  readonly key: string;
  readonly code?: CodePlace;
  readonly stalledMillis: number;
  readonly queuedMillis: number;
}

/** How long a request waited for one block. */
export interface RequestWait {
  /** All of its fields are absent if the block is not reported. */
  readonly block: NamedBlock;
  readonly millis: number;
  /** It waited before its span began. This is an estimate. */
  readonly isQueued?: true;
}

/** What is known of a block when it is reported. */
export interface NamedBlock {
  readonly startTimeMillis?: number;
  readonly code?: CodePlace;
  /** That of {@link FunctionWait}. */
  readonly key?: string;
}

/** What is published on {@link LAG_CHANNEL}. */
export interface LagMessage {
  /** How long an event waited for the loop, in milliseconds. */
  readonly lagMillis: number;
  /** How many samples have this lag. */
  readonly samples: number;
  /**
   * For how many milliseconds the loop has not waited for events so far, since any moment; NaN if
   * the runtime does not count it.
   */
  readonly busyMillis: number;
}

interface Publisher<Message> {
  readonly hasSubscribers: boolean;
  publish(message: Message): void;
}

// Ask `hasSubscribers` before a message is made: 0 to 3 ns (Node.js 20 to 26).
export const blocks: Publisher<BlockMessage> = channel(BLOCK_CHANNEL);
export const requests: Publisher<RequestMessage> = channel(REQUEST_CHANNEL);
export const lags: Publisher<LagMessage> = channel(LAG_CHANNEL);
