/**
 * From a block to its span, its metrics and the user's hook. Blocks are collected as they end and reported together, in an
 * immediate of our own: exporters, span processors and hooks are user code, which must not run inside a handler, and
 * garbage collection is told of only then.
 */
import { setImmediate } from 'node:timers';
import {
  type Context,
  type HrTime,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import type { Block } from '../block.ts';
import { type SeenCode, seenCode } from '../code/blocking-code.ts';
import { withSourcePositions } from '../code/source-positions.ts';
import type { GcMeter } from '../loop/gc-meter.ts';
import type { OnceLogger } from '../otel/diag-once.ts';
import { isTracingSuppressed } from '../otel/sdk-internals.ts';
import type { Clock } from '../support/clock.ts';
import type { EventLoopBlock } from '../types.ts';
import { BlockLink } from './block-link.ts';
import { attributesOf, parentOf, startBlockSpan } from './block-span.ts';
import type { Instruments } from './instruments.ts';
import { RateLimit } from './rate-limit.ts';

/** Blocks that may wait to be reported. More than that in one iteration count in metrics, as the rate limit's do. */
const MAX_PENDING = 1000;

export interface ReporterOptions {
  requireParentSpan: boolean;
  maxSpansPerMinute: number;
  blockHook: ((span: Span, block: EventLoopBlock) => void) | undefined;
}

export interface ReporterTargets {
  tracer(): Tracer;
  instruments(): Instruments;
  /** Runs the reporting so that what it blocks counts as our own work. */
  asOwnWork(work: () => void): void;
  /** Given each block that is not our own work, whether or not it gets a span. */
  told(block: EventLoopBlock, context: Context): void;
}

/** A block that waits to be reported. */
interface PendingBlock {
  readonly block: Block;
  readonly stalledSpans: number | undefined;
  readonly link: BlockLink;
  /** Its span, once it has been asked for; undefined where it may have none. */
  started?: { readonly span: Span; readonly endTime: HrTime } | undefined;
  asked: boolean;
}

export class BlockReporter {
  #pending: PendingBlock[] = [];
  #scheduled = false;
  readonly #rateLimit: RateLimit;

  constructor(
    private readonly options: ReporterOptions,
    private readonly targets: ReporterTargets,
    private readonly clock: Clock,
    private readonly gc: GcMeter,
    private readonly log: OnceLogger,
  ) {
    this.#rateLimit = new RateLimit(options.maxSpansPerMinute);
  }

  /**
   * Takes a block. Reports it soon, outside user code.
   * @param stalledSpans how many other spans had not ended, where that is known
   * @returns what leads to its span; undefined where it gets none
   */
  add(block: Block, stalledSpans?: number): BlockLink | undefined {
    if (block.isOwnWork) {
      this.#count(block);
      return undefined;
    }
    if (this.#pending.length >= MAX_PENDING) {
      this.#count(block);
      this.#suppress(block.context ?? ROOT_CONTEXT);
      return undefined;
    }
    const link = new BlockLink(() => this.#spanContextOf(pending));
    const pending: PendingBlock = { block, stalledSpans, link, asked: false };
    this.#pending.push(pending);
    this.#schedule();
    return link;
  }

  /** Reports what is waiting. */
  flush(): void {
    this.#scheduled = false;
    const blocks = this.#pending;
    if (blocks.length === 0) return;
    this.#pending = [];
    this.#try('cannot report blocks', () =>
      this.targets.asOwnWork(() => {
        this.#try('cannot read garbage collection times', () => this.gc.collect());
        for (const pending of blocks) {
          this.#count(pending.block);
          this.#try('cannot report a block', () => this.#report(pending));
          this.#try('cannot report a block', () => pending.link.settle());
        }
      }),
    );
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // Not unref'd: it runs in this iteration or the next, and a process that ends right after a block still reports it.
    setImmediate(() => this.#try('cannot report blocks', () => this.flush()));
  }

  #count(block: Block): void {
    this.#try('cannot record a metric', () =>
      this.targets
        .instruments()
        .block(
          block.end - block.start,
          block.kind,
          seenCode(block.samples).code?.functionName,
          block.context ?? ROOT_CONTEXT,
        ),
    );
  }

  #suppress(context: Context): void {
    this.log.log('warn', 'more blocks than maxSpansPerMinute: the rest count in metrics only');
    this.#try('cannot record a metric', () => this.targets.instruments().suppressed(context));
  }

  #report(pending: PendingBlock): void {
    const isEarly = pending.asked;
    const told = this.#describe(pending);
    this.#try('cannot tell of a block', () => this.targets.told(told, pending.block.context ?? ROOT_CONTEXT));
    const started = this.#start(pending, told);
    if (started === undefined) return;
    const { span, endTime } = started;
    if (span.isRecording()) {
      if (isEarly) span.setAttributes(attributesOf(told));
      // Before the span ends: then it does not record any more.
      this.#try('cannot report a block', () => pending.link.settle());
      this.#runHook(span, told);
    }
    span.end(endTime);
  }

  /** For a span that ends before the block is reported. What is found out only then, garbage collection for one, is added later. */
  #spanContextOf(pending: PendingBlock): SpanContext | undefined {
    let spanContext: SpanContext | undefined;
    this.#try('cannot report a block', () => {
      const { block, stalledSpans } = pending;
      const started = pending.asked
        ? pending.started
        : this.#start(pending, this.#known(block, stalledSpans, seenCode(block.samples)));
      if (started?.span.isRecording() === true) spanContext = started.span.spanContext();
    });
    return spanContext;
  }

  /** Starts the span, unless that was done or it may have none. */
  #start(pending: PendingBlock, told: EventLoopBlock): PendingBlock['started'] {
    if (pending.asked) return pending.started;
    pending.asked = true;
    const context = pending.block.context ?? ROOT_CONTEXT;
    if (isTracingSuppressed(context)) return undefined;
    const parent = parentOf(context);
    if (parent === undefined && this.options.requireParentSpan) return undefined;
    const now = this.clock.now();
    if (!this.#rateLimit.hasRoom(now)) {
      const unsampled = parent !== undefined && (parent.spanContext().traceFlags & TraceFlags.SAMPLED) === 0;
      // An unsampled trace would have had no span in any case.
      if (!unsampled) this.#suppress(context);
      return undefined;
    }
    pending.started = startBlockSpan(this.targets.tracer(), told, context);
    if (pending.started.span.isRecording()) this.#rateLimit.take(now);
    return pending.started;
  }

  #describe({ block, stalledSpans }: PendingBlock): EventLoopBlock {
    const gcTime = this.gc.within(block.start, block.end);
    return {
      ...this.#known(block, stalledSpans, withSourcePositions(seenCode(block.samples))),
      ...(!Number.isNaN(gcTime) && { gcTimeMillis: gcTime }),
    };
  }

  /** What is known as soon as the block has ended. */
  #known(block: Block, stalledSpans: number | undefined, seen: SeenCode): EventLoopBlock {
    return {
      ...(block.kind !== undefined && { kind: block.kind }),
      startTimeMillis: this.clock.epoch(block.start),
      durationMillis: block.end - block.start,
      callbacks: block.callbacks,
      ...(block.resourceType !== undefined && { asyncResourceType: block.resourceType }),
      ...(this.clock.cpuIsOfThread && { cpuTimeMillis: block.cpu }),
      ...(stalledSpans !== undefined && { stalledSpans }),
      ...seen,
    };
  }

  #runHook(span: Span, block: EventLoopBlock): void {
    const { blockHook } = this.options;
    if (blockHook === undefined) return;
    const failed = (error: unknown) => this.log.log('error', 'blockHook threw; ignored', error);
    try {
      const result: unknown = blockHook(span, block);
      // An async hook that rejects would end the process as an unhandled rejection.
      if (result instanceof Promise) result.catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  #try(message: string, action: () => void): void {
    try {
      action();
    } catch (error) {
      this.log.log('error', message, error);
    }
  }
}
