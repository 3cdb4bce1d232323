/** What a block is explained from, as plain data that crosses to a thread. */
import type { Block, NativeCall, StackFrame } from '../../block.ts';

export interface RecordedSample {
  readonly requestedAt: number;
  readonly time: number;
  readonly nativeCall?: NativeCall | undefined;
  /** Indexes in {@link RecordedBlock.frames}, innermost first. */
  readonly frames: readonly number[];
}

export interface RecordedBlock {
  readonly start: number;
  readonly end: number;
  readonly lackedCpu?: number | undefined;
  /** Each once. */
  readonly frames: readonly StackFrame[];
  readonly samples: readonly RecordedSample[];
  /** Start and end of each garbage collection in it; undefined if they are not known. */
  readonly collections: readonly (readonly [from: number, until: number])[] | undefined;
}

/** Milliseconds of garbage collection between two times. */
export function gcWithin(collections: RecordedBlock['collections']) {
  if (collections === undefined) return undefined;
  return (start: number, end: number): number =>
    collections.reduce(
      (sum, [from, until]) => sum + Math.max(0, Math.min(until, end) - Math.max(from, start)),
      0,
    );
}

/** Copies the stack samples of a block, one at a time: to read one takes some 0.1 ms. */
export class BlockRecorder {
  readonly frames: StackFrame[] = [];
  readonly #samples: RecordedSample[] = [];
  /** By text: that has the function and the position. */
  readonly #indexes = new Map<string, number>();

  constructor(
    private readonly block: Pick<Block, 'start' | 'end' | 'samples' | 'lackedCpu'>,
    readonly collections: RecordedBlock['collections'],
  ) {}

  /** @returns whether all are copied */
  step(): boolean {
    const sample = this.block.samples[this.#samples.length];
    if (sample === undefined) return true;
    const { requestedAt, time, nativeCall } = sample;
    const frames = sample.frames.map((frame) => this.#indexOf(frame));
    this.#samples.push({ requestedAt, time, nativeCall, frames });
    return this.#samples.length === this.block.samples.length;
  }

  get recorded(): RecordedBlock {
    const { start, end, lackedCpu } = this.block;
    const { frames, collections } = this;
    return { start, end, lackedCpu, frames, samples: this.#samples, collections };
  }

  #indexOf(frame: StackFrame): number {
    const known = this.#indexes.get(frame.text);
    if (known !== undefined) return known;
    const index = this.frames.push(frame) - 1;
    this.#indexes.set(frame.text, index);
    return index;
  }
}
