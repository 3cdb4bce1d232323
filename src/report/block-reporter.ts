/**
 * From a block to its span, its metrics and the user's hook. Blocks are collected as they end and
 * reported together later: exporters, span processors and hooks are user code, which must not run
 * inside a handler, and Node.js knows of garbage collections only then.
 */
import { type Context, type Span, TraceFlags, type Tracer } from '@opentelemetry/api';
import type { Block } from '../block.ts';
import type { OnceLogger } from '../otel/diag-once.ts';
import { isTracingSuppressed } from '../otel/sdk-internals.ts';
import type { Clock } from '../support/clock.ts';
import { Guard } from '../support/guard.ts';
import type { EventLoopBlock } from '../types.ts';
import { parentOf, type StartedSpan, startBlockSpan } from './block-span.ts';
import type { CodeDescriber } from './code-describer.ts';
import { EndedBlock } from './ended-block.ts';
import type { Instruments } from './instruments.ts';
import { PendingBlockSpan } from './pending-block-span.ts';
import { RateLimit } from './rate-limit.ts';

/**
 * Blocks that may wait to be reported. More than that in one iteration count in metrics, as the
 * rate limit's do.
 */
const MAX_PENDING = 1000;

export interface ReporterOptions {
  requireParentSpan: boolean;
  maxSpansPerMinute: number;
  blockHook: ((span: Span, block: EventLoopBlock) => void) | undefined;
}

/** Blocks wait for no longer than this for entry spans to begin. */
const MAX_WAIT_MILLIS = 1000;

/** What the reporter is given to work with. */
export interface ReporterSources {
  tracer(): Tracer;
  instruments(): Instruments;
  /**
   * Milliseconds of garbage collection in between, two times of the clock; NaN where that is not
   * known. Called by {@link BlockReporter.flush} only.
   */
  gcWithin(start: number, end: number): number;
  /**
   * For how many calls of {@link BlockReporter.turn} a block waits, since it ended or since the
   * latest entry span began that may have waited for it; 0 where this is left out.
   */
  turnsToWait?(): number;
}

/** What the reporter calls. */
export interface ReporterEvents {
  /**
   * A block waits: {@link BlockReporter.turn} is to be called soon, outside user code. Called once,
   * and again only after that, or after a flush.
   */
  schedule(): void;
  /** A block that is not this package's own work, whether or not it gets a span. */
  reported(block: EventLoopBlock, context: Context): void;
}

interface Pending {
  readonly block: EndedBlock;
  readonly span: PendingBlockSpan;
  turnsLeft: number;
}

export class BlockReporter {
  #pending: Pending[] = [];
  #isScheduled = false;
  readonly #rateLimit: RateLimit;
  readonly #guard: Guard;

  constructor(
    private readonly options: ReporterOptions,
    private readonly sources: ReporterSources,
    private readonly events: ReporterEvents,
    private readonly describer: CodeDescriber,
    private readonly clock: Clock,
    private readonly log: OnceLogger,
  ) {
    this.#rateLimit = new RateLimit(options.maxSpansPerMinute);
    this.#guard = new Guard(log);
  }

  /**
   * Takes a block, to be reported by the next {@link flush}.
   * @param stalledSpans how many other spans had not ended, where that is known
   * @returns its span; undefined where it gets none in any case
   */
  add(block: Block, stalledSpans?: number): PendingBlockSpan | undefined {
    const ended = new EndedBlock(block, stalledSpans, this.clock, this.describer);
    if (block.isOwnWork) {
      this.#count(ended.known(), ended.context);
      return undefined;
    }
    if (this.#pending.length >= MAX_PENDING) {
      this.#count(ended.known(), ended.context);
      this.#suppress(ended.context);
      return undefined;
    }
    const span = new PendingBlockSpan(ended, this.#startSpan, this.#guard);
    this.#pending.push({ block: ended, span, turnsLeft: this.sources.turnsToWait?.() ?? 0 });
    this.#schedule();
    return span;
  }

  /** Whether blocks wait to be reported. */
  get isWaiting(): boolean {
    return this.#pending.length > 0;
  }

  /** Reports what has waited for long enough. */
  turn(): void {
    this.#isScheduled = false;
    const turns = this.sources.turnsToWait?.() ?? 0;
    const now = this.clock.now();
    const due: Pending[] = [];
    const waiting: Pending[] = [];
    for (const pending of this.#pending) {
      const { block } = pending;
      if (block.hasNewQueued()) pending.turnsLeft = turns;
      const isDue = pending.turnsLeft <= 0 || now - block.block.end > MAX_WAIT_MILLIS;
      pending.turnsLeft--;
      (isDue ? due : waiting).push(pending);
    }
    this.#pending = waiting;
    if (this.isWaiting) this.#schedule();
    this.#reportAll(due);
  }

  /** Reports what is waiting. */
  flush(): void {
    this.#isScheduled = false;
    const pending = this.#pending;
    this.#pending = [];
    this.#reportAll(pending);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#guard.run('cannot report blocks', () => this.events.schedule());
  }

  #reportAll(pending: readonly Pending[]): void {
    for (const { block, span } of pending) {
      this.#guard.run('cannot report a block', () =>
        block.complete(this.sources.gcWithin, this.#guard, (facts) => {
          this.#guard.run('cannot report a block', () => this.#report(block, span, facts));
        }),
      );
    }
  }

  #report({ context }: EndedBlock, span: PendingBlockSpan, facts: EventLoopBlock): void {
    this.#count(facts, context);
    this.#guard.run('cannot pass on a block', () => this.events.reported(facts, context));
    span.finish(facts, (started) => this.#runHook(started, facts));
  }

  #count(facts: EventLoopBlock, context: Context): void {
    this.#guard.run('cannot record a metric', () =>
      this.sources.instruments().block(facts, context),
    );
  }

  #suppress(context: Context): void {
    this.log.log('warn', 'more blocks than maxSpansPerMinute: the others count in metrics only');
    this.#guard.run('cannot record a metric', () => this.sources.instruments().suppressed(context));
  }

  readonly #startSpan = (facts: EventLoopBlock, context: Context): StartedSpan | undefined => {
    if (isTracingSuppressed(context)) return undefined;
    const parent = parentOf(context);
    if (parent === undefined && this.options.requireParentSpan) return undefined;
    const now = this.clock.now();
    if (!this.#rateLimit.hasRoom(now)) {
      const isUnsampled =
        parent !== undefined && (parent.spanContext().traceFlags & TraceFlags.SAMPLED) === 0;
      // An unsampled trace would have had no span in any case.
      if (!isUnsampled) this.#suppress(context);
      return undefined;
    }
    const started = startBlockSpan(this.sources.tracer(), facts, context);
    if (started.span.isRecording()) this.#rateLimit.take(now);
    return started;
  };

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
}
