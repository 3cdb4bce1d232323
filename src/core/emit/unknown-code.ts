/** What a block is told as that has no place: why, and what it is made of. */
import { trace } from '@opentelemetry/api';
import type { Block } from '../../block.ts';
import type { EventLoopBlock } from '../../types.ts';
import { attributedRequest } from './attributed-request.ts';

/** A pile-up is made of the requests of one operation if these took this share of it. */
const MIN_SHARE = 0.5;

/** The requests of the operation that took most of a pile-up, if there are several. */
export function requestsOf(block: Block): EventLoopBlock['requests'] {
  const { kind, start, end, ran = [] } = block;
  if (kind !== 'pile-up') return undefined;
  const byOperation = new Map<string, { requests: Set<unknown>; millis: number }>();
  for (const { context, millis } of ran) {
    const { operation, traceId } = attributedRequest(context);
    if (operation === undefined) continue;
    const known = byOperation.get(operation) ?? { requests: new Set(), millis: 0 };
    byOperation.set(operation, known);
    // Without an SDK a request has a span, but no trace.
    known.requests.add(traceId ?? trace.getSpan(context));
    known.millis += millis;
  }
  const [most] = [...byOperation].sort(([, a], [, b]) => b.millis - a.millis);
  if (most === undefined) return undefined;
  const [operation, { requests, millis }] = most;
  const share = Math.min(1, millis / (end - start));
  const isMost = requests.size > 1 && share >= MIN_SHARE;
  return isMost ? { operation, count: requests.size, share } : undefined;
}

/** False if one function is most of what is known: then too little of the block is. */
export const isOfMany = ({ topFunctions }: Pick<EventLoopBlock, 'topFunctions'>): boolean =>
  topFunctions !== undefined && !topFunctions.some(({ share }) => share > MIN_SHARE);

/** In a few words, for what adds up blocks. */
export function whyUnknown(
  block: Pick<EventLoopBlock, 'cause' | 'requests' | 'topFunctions' | 'samples'>,
): string {
  if (block.cause === 'message') return 'messages of a worker thread or child process';
  if (block.requests !== undefined) return 'many requests at once';
  if (isOfMany(block)) return 'many functions';
  return block.samples === 0 ? 'no stack sample came in time' : 'its caller is not on the stack';
}
