/**
 * The spans that have started and not ended, and which of them is around which.
 *
 * Guarantees: the work for a span does not depend on how many are open, and neither does that for a
 * block, but for the spans that began in it.
 */
import { type Context, type Span, type SpanKind, trace } from '@opentelemetry/api';
import { isEntryKind } from '../../otel/entry-span.ts';
import { hrTimeToMillis } from '../../otel/hr-time.ts';
import { instrumentationScopeOf, spanStartedAt, spanStartTime } from '../../otel/sdk-internals.ts';
import { dateNow } from '../../support/time.ts';
import { PACKAGE_NAME } from '../../version.ts';
import type { Queued } from './queue.ts';
import { type BlockTime, MAX_CLOCK_ERROR_MILLIS, spanTimeOf, stallIn } from './span-time.ts';

/** Spans that are never ended must not pile up: past this many, the oldest are forgotten. */
export const MAX_OPEN_SPANS = 10_000;
/** Spans around a span. One that begins each span inside the last one has no outermost. */
const MAX_DEPTH = 128;

interface Entry {
  /** Undefined when it is not in the list any more: it has ended, or is forgotten. */
  span: Span | undefined;
  /** The span around it, also if that has ended. */
  readonly parent: Span | undefined;
  /** How many of the spans around it are kept. */
  readonly depth: number;
  /** The latest start of this span and those before it, Unix time in milliseconds. */
  readonly latestStart: number;
  older: Entry | undefined;
  newer: Entry | undefined;
  queued: Queued | undefined;
  /** Of GraphQL, for an entry span. */
  operation: string | undefined;
}

/** A constructor that returns what it is given. */
class Given {
  constructor(given: object) {
    // biome-ignore lint/correctness/noConstructorReturn: private fields are added to this object
    return given;
  }
}

/**
 * What is known of a span is in a private field of the span itself, which nobody else sees. A
 * WeakMap from span to entry costs 1.5 to 4 µs a span, in garbage collections.
 *
 * The entry of a span that has ended refers to the span around it only: else twice as much of a
 * request survives V8's scavenges, and is promoted (observed on Node.js 20, 22 and 24).
 */
class Known extends Given {
  /** One field: a span takes longer with each that is added to it. */
  readonly #entry: Entry;

  /** Throws a TypeError if the span has this field. */
  constructor(span: Span, entry: Entry) {
    super(span);
    this.#entry = entry;
  }

  static entryOf(span: object): Entry | undefined {
    return #entry in span ? span.#entry : undefined;
  }
}

/** The span around a span that has been added to {@link OpenSpans}. */
export function parentOf(span: Span): Span | undefined {
  return Known.entryOf(span)?.parent;
}

/** A span and those around it, as far as they began in this process; the innermost is first. */
export function lineOf(span: Span | undefined): Span[] {
  const line: Span[] = [];
  for (let s = span; s !== undefined && line.length < MAX_DEPTH; s = parentOf(s)) line.push(s);
  return line;
}

export class OpenSpans {
  #newest: Entry | undefined;
  #oldest: Entry | undefined;
  #size = 0;

  /**
   * @param startOf when a span started, as blocks have it, in milliseconds
   * @param now the time now, as that of a span
   */
  constructor(
    private readonly startOf: (span: Span) => number | undefined = (span) => {
      const time = spanStartTime(span);
      return time && hrTimeToMillis(time);
    },
    private readonly now: () => number = dateNow,
  ) {}

  /**
   * Hot. With {@link remove} most of the 120 to 200 ns that the processor adds to a span of the
   * SDK, which grows by the field (Node.js 20 and 24).
   * @returns false for the span of a block, and if another processor has added the span
   */
  add(span: Span, parentContext: Context): boolean {
    const older = this.#newest;
    // Usually the second of two processors comes right after the first.
    if (isBlockSpan(span) || older?.span === span) return false;
    const around = trace.getSpan(parentContext);
    const depth = around === undefined ? 0 : (Known.entryOf(around)?.depth ?? 0) + 1;
    const isDeep = depth === MAX_DEPTH;
    const start = this.#beginOf(span);
    const entry: Entry = {
      span,
      parent: isDeep ? undefined : around,
      depth: isDeep ? 0 : depth,
      latestStart: older !== undefined && older.latestStart > start ? older.latestStart : start,
      older,
      newer: undefined,
      queued: undefined,
      operation: undefined,
    };
    try {
      new Known(span, entry);
    } catch {
      // The first one added it, and another span began in between. To ask with `in` whether a span
      // has the field takes 50 ns if it has not.
      return false;
    }
    if (older === undefined) this.#oldest = entry;
    else older.newer = entry;
    this.#newest = entry;
    this.#size++;
    if (this.#size > MAX_OPEN_SPANS) this.#remove(this.#oldest as Entry);
    return true;
  }

  /** How long a span may have waited before it began. */
  setQueued(span: Span, queued: Queued): void {
    const entry = Known.entryOf(span);
    if (entry !== undefined) entry.queued = queued;
  }

  /** A span inside of a request or message knows which operation of GraphQL that is. */
  setOperation(span: Span, operation: string): void {
    const entry = Known.entryOf(lineOf(span).find(isEntry) ?? span);
    if (entry !== undefined) entry.operation ??= operation;
  }

  operationOf(span: Span): string | undefined {
    return Known.entryOf(span)?.operation;
  }

  /** Hot. The span ends, or has ended. Returns what {@link setQueued} was given, once. */
  remove(span: Span): Queued | undefined {
    const entry = Known.entryOf(span);
    if (entry === undefined) return undefined;
    this.#remove(entry);
    const { queued } = entry;
    entry.queued = undefined;
    return queued;
  }

  latest(max: number): Span[] {
    const spans: Span[] = [];
    for (let e = this.#newest; e !== undefined && spans.length < max; e = e.older)
      spans.push(e.span as Span);
    return spans;
  }

  clear(): void {
    while (this.#oldest !== undefined) this.#remove(this.#oldest);
  }

  /**
   * Open spans that had begun when a block ended, without those that ran in it, and blocks.
   * @param ran the spans that ran in it
   */
  countStalled(block: BlockTime, ran: Iterable<Span>): number {
    const maybeNotStalled = new Set<Span>();
    for (const span of ran) if (Known.entryOf(span)?.span !== undefined) maybeNotStalled.add(span);
    // A span that is not known to have run was stalled, unless it began in the block or after it.
    const { start, end, callbackStart } = block;
    const from = (callbackStart === undefined ? end : start) - MAX_CLOCK_ERROR_MILLIS;
    for (let e = this.#newest; e !== undefined && e.latestStart >= from; e = e.older)
      maybeNotStalled.add(e.span as Span);
    let stalled = this.#size;
    for (const span of maybeNotStalled) if (!this.#isStalled(span, block)) stalled--;
    return stalled;
  }

  #isStalled(span: Span, block: BlockTime): boolean {
    const start = this.#startOf(span);
    if (start >= block.end) return false;
    return stallIn(block, spanTimeOf(span, start, block.end)) > 0;
  }

  /**
   * Hot. Its start, if that is not one in the future that it was given: else each block would be
   * compared with all spans that begin after this one.
   */
  #beginOf(span: Span): number {
    const start = this.#startOf(span);
    const isSure =
      spanStartedAt(span) !== undefined || start <= this.now() + MAX_CLOCK_ERROR_MILLIS;
    return isSure ? start : Number.NEGATIVE_INFINITY;
  }

  #startOf(span: Span): number {
    return this.startOf(span) ?? Number.NEGATIVE_INFINITY;
  }

  #remove(entry: Entry): void {
    // The span was forgotten.
    if (entry.span === undefined) return;
    const { older, newer } = entry;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    entry.span = undefined;
    entry.older = undefined;
    entry.newer = undefined;
    this.#size--;
  }
}

const isEntry = (span: Span & { readonly kind?: SpanKind }) => isEntryKind(span);

/** A span of this package: the span of a block is not stalled itself. */
export function isBlockSpan(span: Span): boolean {
  return instrumentationScopeOf(span) === PACKAGE_NAME;
}
