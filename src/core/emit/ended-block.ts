/**
 * What is known of a block: some of it as soon as it has ended, the remainder when it is reported.
 */
import { type Context, ROOT_CONTEXT } from '@opentelemetry/api';
import type { Block, WeightedSample } from '../../block.ts';
import { expectsBlocks } from '../../otel/context-marks.ts';
import type { Clock } from '../../support/clock.ts';
import type { Guard } from '../../support/guard.ts';
import type { EventLoopBlock } from '../../types.ts';
import type { Explain } from '../explain/explainer.ts';
import { causeOfBlock, collectionsAround } from '../explain/name/cause.ts';
import type { SampledCode } from '../explain/name/describe-code.ts';
import { requestsOf } from './unknown-code.ts';

export class EndedBlock {
  #queuedSpans = 0;
  #queuedAtLastAsk = 0;

  constructor(
    readonly block: Block,
    private readonly stalledSpans: number | undefined,
    private readonly clock: Clock,
  ) {}

  get durationMillis(): number {
    return this.block.end - this.block.start;
  }

  get context(): Context {
    return this.block.context ?? ROOT_CONTEXT;
  }

  addQueued(): void {
    this.#queuedSpans++;
  }

  hasNewQueued(): boolean {
    const isNew = this.#queuedSpans > this.#queuedAtLastAsk;
    this.#queuedAtLastAsk = this.#queuedSpans;
    return isNew;
  }

  /** What is known as soon as the block has ended, without its code. */
  unnamed(): EventLoopBlock {
    const { cause: _, ...facts } = this.#facts({ samples: this.block.samples.length });
    return facts;
  }

  /**
   * With what is known later: garbage collection, and positions in the source.
   * @param done is called once, at once or later, with the stack samples as they are in the source
   */
  complete(
    gcWithin: (start: number, end: number) => number,
    explain: Explain,
    guard: Guard,
    done: (facts: EventLoopBlock, samples: readonly WeightedSample[]) => void,
  ): void {
    const gc = guard.run('cannot read garbage collection times', () =>
      collectionsAround(this.block, gcWithin),
    );
    explain(this.block, (code, samples) => {
      done(this.#facts(code, gc), samples);
    });
  }

  #facts(sampled: SampledCode, gc?: ReturnType<typeof collectionsAround>): EventLoopBlock {
    const { block, clock, stalledSpans, durationMillis } = this;
    const queuedSpans = this.#queuedSpans;
    const { gcInNativeTimeMillis, isOutsideJavaScript, isMessage, isRare, ...named } = sampled;
    // One function of many in a pile-up says less than the requests do, if they are known.
    const isOne = named.code !== undefined && isRare !== true;
    const requests = isOne ? undefined : requestsOf(block);
    const { code: _, leaf: __, ...nameless } = named;
    const code = requests === undefined ? named : nameless;
    const cpuTimeMillis = clock.cpuIsOfThread ? block.cpu : undefined;
    const cause = causeOfBlock(block, sampled, gc);
    return {
      ...(block.kind !== undefined && { kind: block.kind }),
      startTimeMillis: clock.epoch(block.start),
      durationMillis,
      callbacks: block.callbacks,
      ...(block.resourceType !== undefined && { asyncResourceType: block.resourceType }),
      ...(cause !== undefined && { cause }),
      ...(cpuTimeMillis !== undefined && { cpuTimeMillis }),
      ...(gc !== undefined && !Number.isNaN(gc.gcTimeMillis) && { gcTimeMillis: gc.gcTimeMillis }),
      ...(stalledSpans !== undefined && { stalledSpans }),
      ...((stalledSpans !== undefined || queuedSpans > 0) && { queuedSpans }),
      ...(requests !== undefined && { requests }),
      ...(expectsBlocks(this.context) && { expected: true as const }),
      ...code,
    };
  }
}
