/**
 * Requests and messages that come while the event loop is blocked have no span yet: their entry
 * spans begin right after the block. Which blocks may such a span have waited for?
 *
 * What a connection had received is read in the iteration of the block, if it was ready before, or
 * in the next one. Of new connections, libuv accepts one in each iteration, and reads it in the one
 * after that. When the loop has waited for events since, there was nothing left to read.
 */
import type { RecentBlock } from './recent-blocks.ts';

/** Iterations after that of the block, at most, in which an entry span begins that waited. */
const MAX_ITERATIONS = 1;
/** The same for the first one of a new connection: the backlog of a server may be long. */
const MAX_ITERATIONS_NEW = 128;
/** Iterations in which none begins: then there is no further one. */
export const IDLE_ITERATIONS = 2;
/** A wait for events that is shorter than this is none. */
const MIN_WAIT_MILLIS = 0.25;
/** More in three iterations: the oldest are left out. */
const MAX_BLOCKS = 1024;

/** A moment of the event loop's time. */
export interface LoopMoment {
  readonly iteration: number;
  /** Milliseconds that the loop has waited for events so far. */
  readonly idle: number;
}

/** The end of a block. */
export interface BlockEnd extends LoopMoment {
  /** A time of the clock. */
  readonly end: number;
  /** The latest async id: what was made since has a larger one. */
  readonly asyncId: number;
}

/** When a span begins. */
export interface SpanBegin extends LoopMoment {
  /** When the task in which it begins began, a time of the clock; NaN if that is not known. */
  readonly taskStart: number;
  /** The running async resource's: an HTTP server's connection, for one. */
  readonly asyncId: number;
}

/** How long a span may have waited before it began, at most. */
export interface Queued {
  readonly millis: number;
  readonly longest: RecentBlock;
}

interface QueuedBlock extends BlockEnd {
  readonly block: RecentBlock;
}

export class Queue {
  #blocks: QueuedBlock[] = [];

  /** Hot: asked for each span that starts. */
  get isEmpty(): boolean {
    return this.#blocks.length === 0;
  }

  add(block: RecentBlock, end: BlockEnd): void {
    this.#drop(end);
    this.#blocks.push({ ...end, block });
    if (this.#blocks.length > MAX_BLOCKS) this.#blocks.splice(0, MAX_BLOCKS / 2);
  }

  /** The blocks that an entry span which begins now may have waited for; the newest is first. */
  blocksBefore(begin: SpanBegin): RecentBlock[] {
    this.#drop(begin);
    const { iteration, taskStart, asyncId } = begin;
    const found: RecentBlock[] = [];
    const oldestId = this.#blocks[0]?.asyncId ?? 0;
    for (let i = this.#blocks.length - 1; i >= 0; i--) {
      const ended = this.#blocks[i] as QueuedBlock;
      const isRecent = iteration - ended.iteration <= MAX_ITERATIONS;
      // What was made before the oldest block is no new connection for any other either.
      if (!isRecent && asyncId <= oldestId) break;
      // A task that blocked and then begins a span has not kept that waiting.
      const isBefore = Number.isNaN(taskStart)
        ? ended.iteration < iteration
        : ended.end <= taskStart;
      if (isBefore && (isRecent || asyncId > ended.asyncId)) found.push(ended.block);
    }
    return found;
  }

  /** Blocks are in order of time, and so are their iterations and idle times. */
  #drop({ iteration, idle }: LoopMoment): void {
    const isOutdated = (ended: QueuedBlock) =>
      iteration - ended.iteration > MAX_ITERATIONS_NEW || idle - ended.idle >= MIN_WAIT_MILLIS;
    const first = this.#blocks.findIndex((ended) => !isOutdated(ended));
    if (first !== 0) this.#blocks.splice(0, first === -1 ? this.#blocks.length : first);
  }
}

/**
 * @param receivedAt Unix time at which the request was received, if that is known: it has not
 *   waited before
 */
export function queuedBy(
  blocks: readonly RecentBlock[],
  receivedAt = Number.NEGATIVE_INFINITY,
): Queued | undefined {
  let millis = 0;
  let longest: RecentBlock | undefined;
  let longestMillis = 0;
  for (const block of blocks) {
    const waited = block.end - Math.max(block.start, receivedAt);
    if (!(waited > 0)) continue;
    millis += waited;
    if (waited > longestMillis) {
      longest = block;
      longestMillis = waited;
    }
  }
  return longest && { millis, longest };
}
