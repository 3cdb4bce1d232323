/**
 * From a block to its span, its event, its metrics and the user's hooks. Blocks are collected as
 * they end and reported together later: exporters, span processors and hooks are user code, which
 * must not run inside a handler, and Node.js knows of garbage collections only then.
 */
import { type Context, type Span, TraceFlags, type Tracer } from '@opentelemetry/api';
import type { Block, WeightedSample } from '../block.ts';
import { keyOf } from '../name/key.ts';
import {
  foldedStacks,
  MIN_STACKS,
  type SampledStack,
  sampledStacks,
} from '../name/sampled-stacks.ts';
import type { OnceLogger } from '../otel/diag-once.ts';
import type { Logger } from '../otel/logger.ts';
import { isTracingSuppressed } from '../otel/sdk-internals.ts';
import type { Clock } from '../support/clock.ts';
import { Guard } from '../support/guard.ts';
import type { BlockEventsMode, EventLoopBlock } from '../types.ts';
import { emitBlockEvent } from './block-event.ts';
import { parentOf, type StartedSpan, startBlockSpan } from './block-span.ts';
import type { CodeDescriber } from './code-describer.ts';
import { EndedBlock } from './ended-block.ts';
import type { Instruments } from './instruments.ts';
import { type NoSpan, PendingBlockSpan } from './pending-block-span.ts';
import { NO_FUNCTION, RateLimit } from './rate-limit.ts';

/**
 * Blocks that may wait to be reported. More than that in one iteration count in metrics only.
 */
const MAX_PENDING = 1000;

export interface ReporterOptions {
  requireParentSpan: boolean;
  maxSpansPerMinute: number;
  blockEvents: BlockEventsMode;
  blockHook: ((span: Span, block: EventLoopBlock) => void) | undefined;
  ignoreBlockHook: ((block: EventLoopBlock) => boolean) | undefined;
}

/** Backends cut longer attributes, or refuse them. */
const MAX_STACKS_LENGTH = 16_384;

/** Blocks wait for no longer than this for entry spans to begin. */
const MAX_WAIT_MILLIS = 1000;

/** What the reporter is given to work with. */
export interface ReporterSources {
  tracer(): Tracer;
  instruments(): Instruments;
  /** Undefined where there is no SDK for logs. */
  logger(): Logger | undefined;
  /** Writes the stacks of a block to a file; absent where nobody asked for it. */
  profile?(stacks: readonly SampledStack[], block: EventLoopBlock): void;
  /** A block in one line, for people. */
  line(block: EventLoopBlock, context: Context): string;
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
  /**
   * A block that is not this package's own work, whether or not it gets a span.
   * @param isIgnored it is expected, or `ignoreBlockHook` says so
   * @param samples its stack samples, with positions in the source
   */
  reported(
    block: EventLoopBlock,
    context: Context,
    isIgnored: boolean,
    samples: readonly WeightedSample[],
  ): void;
}

/** A block that counts in metrics only. */
interface UnreportedBlock {
  spanContext(): undefined;
  addQueued(): void;
  /** Calls `listener` now. */
  onReported(listener: (facts: EventLoopBlock) => void): void;
}

const unreported = (facts: EventLoopBlock): UnreportedBlock => ({
  spanContext: () => undefined,
  addQueued: () => {},
  onReported: (listener) => listener(facts),
});

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
    this.#guard = new Guard(log.later);
  }

  /**
   * Takes a block, to be reported by the next {@link flush}.
   * @param stalledSpans how many other spans had not ended, where that is known
   * @returns its span, or what stands for it if it gets none in any case
   */
  add(block: Block, stalledSpans?: number): PendingBlockSpan | UnreportedBlock {
    const ended = new EndedBlock(block, stalledSpans, this.clock, this.describer);
    if (block.isOwnWork) {
      const facts = ended.known();
      this.#count(facts, ended.context);
      return unreported(facts);
    }
    if (this.#pending.length >= MAX_PENDING) {
      const facts = ended.known();
      this.#count(facts, ended.context);
      if (facts.expected !== true) this.#suppress(facts, ended.context);
      return unreported(facts);
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
        block.complete(this.sources.gcWithin, this.#guard, (facts, samples) => {
          this.#guard.run('cannot report a block', () => this.#report(block, span, facts, samples));
        }),
      );
    }
    this.log.catchUp();
  }

  #report(
    { context }: EndedBlock,
    span: PendingBlockSpan,
    facts: EventLoopBlock,
    samples: readonly WeightedSample[],
  ): void {
    this.#count(facts, context);
    this.#guard.run('cannot report a block', () =>
      span.finish(facts, (started) => this.#runHook(started, facts)),
    );
    const { outcome } = span;
    const { blockEvents } = this.options;
    const isEvent =
      (outcome === 'left out' && blockEvents !== 'off') ||
      (outcome === 'sampled' && blockEvents === 'all');
    if (isEvent) this.#guard.run('cannot emit a block', () => this.#emit(facts, context, samples));
    const isIgnored = outcome === 'ignored';
    if (!isIgnored && samples.length > MIN_STACKS) {
      this.#guard.run('cannot write the profile of a block', () =>
        this.sources.profile?.(sampledStacks(samples), facts),
      );
    }
    this.#guard.run('cannot pass on a block', () =>
      this.events.reported(facts, context, isIgnored, samples),
    );
  }

  #emit(facts: EventLoopBlock, context: Context, samples: readonly WeightedSample[]): void {
    const logger = this.sources.logger();
    if (logger === undefined) return;
    const stacks = () =>
      samples.length > MIN_STACKS
        ? foldedStacks(sampledStacks(samples), MAX_STACKS_LENGTH)
        : undefined;
    const body = () => this.sources.line(facts, context);
    emitBlockEvent(logger, facts, context, body, stacks, (span) => this.#runHook(span, facts));
  }

  #count(facts: EventLoopBlock, context: Context): void {
    this.#guard.run('cannot record a metric', () =>
      this.sources.instruments().block(facts, context),
    );
  }

  #suppress(block: EventLoopBlock, context: Context): void {
    this.log.log('warn', 'more blocks than maxSpansPerMinute: the others get no span');
    this.#guard.run('cannot record a metric', () =>
      this.sources.instruments().suppressed(block, context),
    );
  }

  readonly #startSpan = (facts: EventLoopBlock, context: Context): StartedSpan | NoSpan => {
    if (facts.expected === true) return 'ignored';
    if (isTracingSuppressed(context)) return 'suppressed';
    if (this.#isIgnored(facts)) return 'ignored';
    const parent = parentOf(context);
    if (parent === undefined && this.options.requireParentSpan) return 'left out';
    const now = this.clock.now();
    const key = facts.code === undefined ? NO_FUNCTION : keyOf(facts.code);
    if (!this.#rateLimit.hasRoom(key, now)) {
      const isUnsampled =
        parent !== undefined && (parent.spanContext().traceFlags & TraceFlags.SAMPLED) === 0;
      // An unsampled trace would have had no span in any case.
      if (isUnsampled) return 'left out';
      this.#rateLimit.refuse(key, now);
      this.#suppress(facts, context);
      return 'left out';
    }
    const started = startBlockSpan(this.sources.tracer(), facts, context);
    if (started.span.isRecording()) this.#rateLimit.take(key, now);
    return started;
  };

  #isIgnored(block: EventLoopBlock): boolean {
    const { ignoreBlockHook } = this.options;
    if (ignoreBlockHook === undefined) return false;
    return this.#callHook('ignoreBlockHook', () => ignoreBlockHook(block)) === true;
  }

  #runHook(span: Span, block: EventLoopBlock): void {
    const { blockHook } = this.options;
    if (blockHook !== undefined) this.#callHook('blockHook', () => blockHook(span, block));
  }

  /** What it returns; undefined where it throws. */
  #callHook(name: string, hook: () => unknown): unknown {
    const failed = (error: unknown) => this.log.log('error', `${name} threw; ignored`, error);
    try {
      const result = hook();
      // An async hook that rejects would end the process as an unhandled rejection.
      if (result instanceof Promise) result.catch(failed);
      return result;
    } catch (error) {
      failed(error);
      return undefined;
    }
  }
}
