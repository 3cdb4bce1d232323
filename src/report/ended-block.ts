/** What is known of a block: some of it as soon as it has ended, the rest when it is reported. */
import { type Context, ROOT_CONTEXT } from '@opentelemetry/api';
import type { Block } from '../block.ts';
import { causeOf } from '../code/cause.ts';
import type { SampledCode } from '../code/describe-code.ts';
import type { Clock } from '../support/clock.ts';
import type { Guard } from '../support/guard.ts';
import type { EventLoopBlock } from '../types.ts';
import type { CodeDescriber } from './code-describer.ts';

export class EndedBlock {
  #code: SampledCode | undefined;

  constructor(
    readonly block: Block,
    private readonly stalledSpans: number | undefined,
    private readonly clock: Clock,
    private readonly describer: CodeDescriber,
  ) {}

  get durationMillis(): number {
    return this.block.end - this.block.start;
  }

  get context(): Context {
    return this.block.context ?? ROOT_CONTEXT;
  }

  /** What is known as soon as the block has ended. It may be asked for in user code. */
  known(): EventLoopBlock {
    this.#code ??= this.describer.describe(this.block);
    return this.#facts(this.#code);
  }

  /**
   * With what is known later: garbage collection, and positions in the source.
   * @param done is called once, at once or later
   */
  complete(
    gcWithin: (start: number, end: number) => number,
    guard: Guard,
    done: (facts: EventLoopBlock) => void,
  ): void {
    const { start, end } = this.block;
    const gcTimeMillis =
      guard.run('cannot read garbage collection times', () => gcWithin(start, end)) ?? Number.NaN;
    let isDone = false;
    const finish = (code: SampledCode) => {
      isDone = true;
      done(this.#facts(code, Number.isNaN(gcTimeMillis) ? undefined : gcTimeMillis));
    };
    guard.run('cannot describe the code of a block', () =>
      this.describer.describeInSource(this.block, finish),
    );
    // Where that threw before `finish`: nothing comes later.
    if (!isDone && this.#hasThrown(guard)) finish({ samples: this.block.samples.length });
  }
}
