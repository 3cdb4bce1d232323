/**
 * How long one span ran in an ongoing pile-up. Asked for each span that ends in an overload: it
 * looks at each vote once, and makes nothing.
 */
import { type Span, trace } from '@opentelemetry/api';
import { isTracingSuppressed } from '../../otel/sdk-internals.ts';
import { NO_LINEAGE, type SpanLineage } from '../surroundings.ts';
import { type Cast, MIN_TRACE_SHARE, within } from './candidates.ts';

/**
 * For how much of the time nothing may be known: it is taken to be that of others. The beginning of
 * a busy period does not vote, and neither does what runs between two scopes.
 */
const MAX_UNKNOWN_SHARE = 0.1;
/** Spans around a span. */
const MAX_DEPTH = 128;

/**
 * Milliseconds that a span, and those inside it, ran from `start` to `end`.
 * @returns undefined if too little is known, or if the time may be attributed to the span's trace:
 *   then it takes all that ran to say
 */
export function shareOf(
  span: Span,
  { votes, dropped }: Cast,
  start: number,
  end: number,
  lineage: SpanLineage = NO_LINEAGE,
): number | undefined {
  const length = end - start;
  const { traceId, spanId } = span.spanContext();
  let unknown = dropped === undefined ? length : length - within(dropped, start, end);
  let ofTrace = 0;
  let share = 0;
  for (const vote of votes) {
    const weight = within(vote, start, end);
    unknown -= weight;
    const by = weight === 0 ? undefined : trace.getSpan(vote.context);
    if (by?.spanContext().traceId !== traceId || isTracingSuppressed(vote.context)) continue;
    ofTrace += weight;
    if (isInside(by, vote.context)) share += weight;
  }
  const isKnown = unknown <= length * MAX_UNKNOWN_SHARE;
  return isKnown && ofTrace + unknown < length * MIN_TRACE_SHARE ? share : undefined;

  function isInside(innermost: Span, context: Parameters<SpanLineage['parentOf']>[1]): boolean {
    let depth = 0;
    for (let s: Span | undefined = innermost; s !== undefined; s = lineage.parentOf(s, context)) {
      if (s.spanContext().spanId === spanId) return true;
      if (++depth === MAX_DEPTH) break;
    }
    return false;
  }
}
