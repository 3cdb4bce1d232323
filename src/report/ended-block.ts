/** What is known of a block: some of it as soon as it has ended, the rest when it is reported. */
import { type Context, ROOT_CONTEXT } from '@opentelemetry/api';
import type { Block } from '../block.ts';
import { type SampledCode, sampledCode } from '../code/blocking-code.ts';
import { withSourcePositions } from '../code/source-positions.ts';
import type { Clock } from '../support/clock.ts';
import type { Guard } from '../support/guard.ts';
import type { EventLoopBlock } from '../types.ts';

export class EndedBlock {
  #code: SampledCode | undefined;

  constructor(
    private readonly block: Block,
    private readonly stalledSpans: number | undefined,
    private readonly clock: Clock,
  ) {}

  get kind() {
    return this.block.kind;
  }

  get durationMillis(): number {
    return this.block.end - this.block.start;
  }

  get context(): Context {
    return this.block.context ?? ROOT_CONTEXT;
  }

  get functionName(): string | undefined {
    return this.#sampledCode().code?.functionName;
  }

  /** What is known as soon as the block has ended. Cheap: it may be asked for in user code. */
  known(): EventLoopBlock {
    const { block, clock, stalledSpans } = this;
    return {
      ...(block.kind !== undefined && { kind: block.kind }),
      startTimeMillis: clock.epoch(block.start),
      durationMillis: this.durationMillis,
      callbacks: block.callbacks,
      ...(block.resourceType !== undefined && { asyncResourceType: block.resourceType }),
      ...(clock.cpuIsOfThread && { cpuTimeMillis: block.cpu }),
      ...(stalledSpans !== undefined && { stalledSpans }),
      ...this.#sampledCode(),
    };
  }

  /** With what Node.js knows later: garbage collection, and positions in the source. */
  complete(gcWithin: (start: number, end: number) => number, guard: Guard): EventLoopBlock {
    const { start, end } = this.block;
    const gcTimeMillis =
      guard.run('cannot read garbage collection times', () => gcWithin(start, end)) ?? Number.NaN;
    const code = this.#sampledCode();
    return {
      ...this.known(),
      ...guard.run('cannot read source maps', () => withSourcePositions(code)),
      ...(!Number.isNaN(gcTimeMillis) && { gcTimeMillis }),
    };
  }

  #sampledCode(): SampledCode {
    this.#code ??= sampledCode(this.block.samples);
    return this.#code;
  }
}
