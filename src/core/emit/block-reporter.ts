/**
 * Reports blocks: gives each of them to everything that is emitted. Blocks are collected as they
 * end and reported together later, for two reasons: exporters, span processors and hooks are user
 * code, which must not run inside a handler; and Node.js tells of garbage collections later.
 */
import type { Block } from '../../block.ts';
import type { OnceLogger } from '../../otel/diag-once.ts';
import type { Clock } from '../../support/clock.ts';
import { Guard } from '../../support/guard.ts';
import type { EventLoopBlock } from '../../types.ts';
import type { Explain } from '../explain/explainer.ts';
import { BlockLink } from './block-link.ts';
import type { BlockMetrics } from './block-metrics.ts';
import type { BlockSpans } from './block-span.ts';
import type { BlockReport, Emitter } from './emitter.ts';
import { EndedBlock } from './ended-block.ts';

/**
 * Blocks that may wait to be reported. More than that in one iteration count in metrics only.
 */
const MAX_WAITING = 1000;

/** Blocks wait for no longer than this for entry spans to begin. */
const MAX_WAIT_MILLIS = 1000;

/** A block that counts in metrics only. */
const unreported = (
  facts: EventLoopBlock,
): Pick<BlockLink, 'spanContext' | 'addQueued' | 'onReported'> => ({
  spanContext: () => undefined,
  addQueued: () => {},
  onReported: (listener) => listener(facts),
});

interface WaitingBlock {
  readonly block: EndedBlock;
  readonly span: BlockLink;
  turnsLeft: number;
}

export class BlockReporter {
  #waiting: WaitingBlock[] = [];
  #isScheduled = false;
  readonly #guard: Guard;

  constructor(
    private readonly ports: {
      /**
       * A block waits: `reportDue` is to be called soon, outside user code. Called once, and again
       * only after that, or after {@link BlockReporter.report}.
       */
      schedule(reportDue: () => void): void;
      /**
       * Milliseconds of garbage collection between two times of the clock; NaN if that is not
       * known. Called when a block is reported.
       */
      gcWithin(start: number, end: number): number;
      /**
       * For how many calls of `reportDue` a block waits, since it ended or since the latest entry
       * span began that may have waited for it.
       */
      turnsToWait(): number;
    },
    private readonly emitters: {
      readonly metrics: BlockMetrics;
      readonly spans: BlockSpans;
      /** Everything else, in this order. */
      readonly others: readonly Emitter[];
    },
    private readonly explain: Explain,
    private readonly clock: Clock,
    private readonly log: OnceLogger,
  ) {
    this.#guard = new Guard(log.later);
  }

  /**
   * Takes a block that has just ended.
   * @param stalledSpans how many other spans had not ended, if that is known
   * @returns its span, or what stands for it if it gets none in any case
   */
  add(block: Block, stalledSpans?: number): ReturnType<typeof unreported> {
    const { metrics, spans } = this.emitters;
    const ended = new EndedBlock(block, stalledSpans, this.clock);
    if (block.isOwnWork || this.#waiting.length >= MAX_WAITING) {
      const facts = ended.unnamed();
      const { context } = ended;
      this.#guard.run(metrics.failure, () => metrics.emit({ block: facts, context }));
      if (!block.isOwnWork && facts.expected !== true) metrics.suppressed(facts, context);
      return unreported(facts);
    }
    const span = new BlockLink(
      () => this.#guard.run(spans.failure, () => spans.promise(ended.unnamed(), ended.context)),
      () => ended.addQueued(),
    );
    this.#waiting.push({ block: ended, span, turnsLeft: this.ports.turnsToWait() });
    this.#schedule();
    return span;
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  readonly #reportDue = (): void => {
    this.#isScheduled = false;
    const turns = this.ports.turnsToWait();
    const now = this.clock.now();
    const due: WaitingBlock[] = [];
    const waiting: WaitingBlock[] = [];
    for (const each of this.#waiting) {
      const { block } = each;
      if (block.hasNewQueued()) each.turnsLeft = turns;
      const isDue = each.turnsLeft <= 0 || now - block.block.end > MAX_WAIT_MILLIS;
      each.turnsLeft--;
      (isDue ? due : waiting).push(each);
    }
    this.#waiting = waiting;
    if (this.isWaiting) this.#schedule();
    this.#report(due);
  };

  report(): void {
    this.#isScheduled = false;
    this.#report(this.#waiting);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#guard.run('cannot report blocks', () => this.ports.schedule(this.#reportDue));
    this.#isScheduled = true;
  }

  /** One at a time: V8 may end a report half-way, and the others wait on. */
  #report(blocks: WaitingBlock[]): void {
    for (let each = blocks.shift(); each !== undefined; each = blocks.shift()) {
      const { block, span } = each;
      const { context } = block;
      this.#guard.run('cannot report a block', () =>
        block.complete(this.ports.gcWithin, this.explain, this.#guard, (facts, samples) => {
          this.#emit({ block: facts, ended: block.block, context, samples, span });
        }),
      );
    }
    this.log.catchUp();
  }

  #emit(report: BlockReport): void {
    const { metrics, spans, others } = this.emitters;
    for (const emitter of [metrics, spans, ...others])
      this.#guard.run(emitter.failure, () => emitter.emit(report));
  }
}
