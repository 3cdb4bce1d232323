/**
 * One block as one span: whether it gets one, and from when to when it lasts.
 */
import {
  type Attributes,
  type Context,
  type HrTime,
  isSpanContextValid,
  type Link,
  type Span,
  SpanKind,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { madeByIn } from '../../otel/context-marks.ts';
import { addMillis, hrTimeToMillis, isBefore, toHrTime } from '../../otel/hr-time.ts';
import { type PromisedSpan, promiseSpan } from '../../otel/promised-span.ts';
import {
  clockStepOf,
  isTracingSuppressed,
  spanEndTime,
  spanStartTime,
} from '../../otel/sdk-internals.ts';
import {
  ATTR_EVENT_LOOP_BLOCK_DURATION,
  ATTR_EVENT_LOOP_LINK_TYPE,
  LINK_TYPE_MADE_BY,
  SPAN_EVENT_LOOP_BLOCKED,
} from '../../semconv.ts';
import type { Clock } from '../../support/clock.ts';
import { THIS_THREAD } from '../../support/this-thread.ts';
import type { EventLoopBlock } from '../../types.ts';
import { keyOf } from '../explain/name/key.ts';
import { blockAttributes } from './block-attributes.ts';
import type { BlockMetrics } from './block-metrics.ts';
import type { BlockReport, Emitter } from './emitter.ts';
import { RateLimit } from './rate-limit.ts';
import type { UserHooks } from './user-hooks.ts';

/**
 * A block that goes on for longer after its parent has ended is shown as a whole: by less than
 * this, a block may outlast the span that it is attributed to (`record/attribution/`).
 */
const MAX_CUT = 0.25;

/**
 * Why a block has no span: it is expected or ignored, or it is of a context without tracing, or
 * something leaves it out.
 */
export type NoSpan = 'ignored' | 'suppressed' | 'left out';

export class BlockSpans implements Emitter {
  readonly failure = 'cannot report a block';
  readonly #rateLimit: RateLimit;

  /** @param sdkTracer the tracer itself, if the other one only stands for it */
  constructor(
    private readonly options: {
      readonly requireParentSpan: boolean;
      readonly maxSpansPerMinute: number;
    },
    private readonly tracer: () => Tracer,
    private readonly hooks: UserHooks,
    private readonly metrics: BlockMetrics,
    private readonly clock: Pick<Clock, 'now' | 'epoch'>,
    private readonly sdkTracer: () => Tracer = tracer,
  ) {
    this.#rateLimit = new RateLimit(options.maxSpansPerMinute);
  }

  /** The span starts and ends here, and nowhere else. */
  emit({ block, context, span: link }: BlockReport): void {
    if (link.promised !== undefined) this.#rateLimit.reserved--;
    try {
      const started = this.#start(block, context, link.promised);
      if (typeof started === 'string') {
        link.outcome = started;
        return;
      }
      const { span, endTime } = started;
      // Asked before the span ends: afterwards it does not say whether it was recorded.
      if (span.isRecording() === true) {
        link.started(span.spanContext());
        this.hooks.block(span, block);
      }
      span.end(endTime);
    } finally {
      link.reported(block);
    }
  }

  /**
   * For a stalled span that ends before the block is reported: its code is not named yet, since the
   * application waits meanwhile. So `ignoreBlockHook` and the limit of the function are asked when
   * it is reported, and may still leave the span out.
   */
  promise(block: EventLoopBlock, context: Context): PromisedSpan | undefined {
    if (block.expected === true || isTracingSuppressed(context)) return undefined;
    if (parentOf(context) === undefined && this.options.requireParentSpan) return undefined;
    if (!this.#rateLimit.hasRoom(this.clock.now())) return undefined;
    const { name, kind, links } = spanOf(context);
    const options = { kind, links, attributes: attributesOf(block) };
    const promised = promiseSpan(this.sdkTracer(), name, options, context);
    if (promised !== undefined) this.#rateLimit.reserved++;
    return promised;
  }

  #start(
    block: EventLoopBlock,
    context: Context,
    promised: PromisedSpan | undefined,
  ): ReturnType<typeof startBlockSpan> | NoSpan {
    if (block.expected === true) return 'ignored';
    if (isTracingSuppressed(context)) return 'suppressed';
    if (this.hooks.isIgnored(block)) return 'ignored';
    const parent = parentOf(context);
    if (parent === undefined && this.options.requireParentSpan) return 'left out';
    const now = this.clock.now();
    const key = functionOf(block);
    if (!this.#rateLimit.allows(key, now)) {
      const isUnsampled =
        parent !== undefined && (parent.spanContext().traceFlags & TraceFlags.SAMPLED) === 0;
      // An unsampled trace would have had no span in any case.
      if (isUnsampled) return 'left out';
      this.metrics.suppressed(block, context);
      return 'left out';
    }
    const started = startBlockSpan(promised?.tracer ?? this.tracer(), block, context, this.clock);
    if (started.span.isRecording()) this.#rateLimit.take(key, now);
    return started;
  }
}

/** Blocks without a function count as those of one. */
const functionOf = ({ code }: EventLoopBlock) => (code === undefined ? '' : keyOf(code));

function parentOf(context: Context): Span | undefined {
  const span = trace.getSpan(context);
  return span !== undefined && isSpanContextValid(span.spanContext()) ? span : undefined;
}

/**
 * Both times are explicit: the block is over. The span never starts before its parent: what came
 * before was not the parent's (and the SDK starts spans by `Date.now()`, which is cut to whole
 * milliseconds). Nor does it end after a parent that is known to have ended near the end of the
 * block: what came then is the remainder of its callback. If that makes the span shorter, an
 * attribute has the length of the block.
 */
export function startBlockSpan(
  tracer: Tracer,
  block: EventLoopBlock,
  context: Context,
  clock: Pick<Clock, 'epoch'>,
) {
  const parent = parentOf(context);
  // On the parent's time line, also if the wall clock was stepped since the parent began.
  const step = parent === undefined ? 0 : clockStepOf(parent, clock);
  let startTime = toHrTime(block.startTimeMillis - step);
  let endTime = addMillis(startTime, block.durationMillis);
  const parentStart = parent && spanStartTime(parent);
  const attributes = attributesOf(block);
  if (parentStart !== undefined && isBefore(startTime, parentStart)) {
    startTime = parentStart;
    attributes[ATTR_EVENT_LOOP_BLOCK_DURATION] = block.durationMillis / 1000;
  }
  const parentEnd = parent && spanEndTime(parent);
  if (parentEnd !== undefined && isNearEnd(parentEnd, endTime, block.durationMillis)) {
    endTime = parentEnd;
    attributes[ATTR_EVENT_LOOP_BLOCK_DURATION] = block.durationMillis / 1000;
  }
  if (isBefore(endTime, startTime)) endTime = startTime;
  const { name, kind, links } = spanOf(context);
  const span = tracer.startSpan(name, { kind, startTime, attributes, links }, context);
  return { span, endTime };
}

const spanOf = (context: Context) => ({
  name: SPAN_EVENT_LOOP_BLOCKED,
  kind: SpanKind.INTERNAL,
  links: linksOf(context),
});

/** A block of what an earlier request made has no parent. */
function linksOf(context: Context): Link[] {
  const made = madeByIn(context);
  const madeBy = made && trace.getSpanContext(made);
  if (madeBy === undefined) return [];
  return [{ context: madeBy, attributes: { [ATTR_EVENT_LOOP_LINK_TYPE]: LINK_TYPE_MADE_BY } }];
}

function isNearEnd(parentEnd: HrTime, endTime: HrTime, durationMillis: number): boolean {
  const outlastsMillis = hrTimeToMillis(endTime) - hrTimeToMillis(parentEnd);
  return outlastsMillis > 0 && outlastsMillis < MAX_CUT * durationMillis;
}

export function attributesOf(block: EventLoopBlock): Attributes {
  return blockAttributes(block, THIS_THREAD);
}
