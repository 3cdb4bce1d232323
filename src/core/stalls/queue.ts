/**
 * Requests and messages that come while the event loop is blocked have no span yet: their entry
 * spans begin right after the block. Which blocks may such a span have waited for?
 *
 * What a connection had received is read in the iteration of the block, if it was ready before, or
 * in the next one. Of new connections, libuv accepts one in each iteration, and reads it in the one
 * after that. When the loop has waited for events since, there was nothing left to read.
 */
import { Arrivals } from './arrivals.ts';
import type { RecentBlock } from './recent-blocks.ts';

/** Iterations after that of the block, at most, in which an entry span begins that waited. */
const MAX_ITERATIONS = 1;
/** The same for the first one of a new connection: Node.js' servers keep 511 of them waiting. */
const MAX_ITERATIONS_NEW = 1024;
/** Iterations in which none begins: then there is no further one. */
export const IDLE_ITERATIONS = 2;
/** A wait for events that is shorter than this is none. */
const MIN_WAIT_MILLIS = 0.25;
/** Of a backlog: after so many, it is well known how fast they come, and memory has a bound. */
const MAX_REQUESTS = 1000;
/** More in three iterations: the oldest are left out. */
const MAX_BLOCKS = 1024;

export interface LoopMoment {
  readonly iteration: number;
  /** Milliseconds that the loop has waited for events so far. */
  readonly idle: number;
}

export interface BlockEnd extends LoopMoment {
  /** A time of the clock. */
  readonly end: number;
  /** What was made since its iteration began has a larger async id. */
  readonly asyncId: number;
}

export interface SpanBegin extends LoopMoment {
  /** Unix time. */
  readonly beganAt: number;
  /** When the task in which it begins began, a time of the clock; NaN if that is not known. */
  readonly taskStart: number;
  /** The running async resource's: an HTTP server's connection, for one. */
  readonly asyncId: number;
}

/** What a span may have waited for before it began. */
export interface Before {
  /** The newest is first. */
  readonly blocks: readonly BlockBefore[];
  /** For how long requests came from the first of those blocks on. */
  comeFor?(): number;
  /** Unix time at which the request arrived, as far as that can be told. */
  arrival?(): number;
}

export interface BlockBefore {
  readonly block: RecentBlock;
  /** Unix time from which on anything could wait for it. */
  readonly from: number;
  /** It has waited for all of it. */
  readonly isWhole: boolean;
}

export interface QueuedWait {
  readonly block: RecentBlock;
  readonly millis: number;
}

/** What a span waited before it began. */
export interface Queued {
  /** At most. */
  readonly millis: number;
  readonly longest: RecentBlock;
  /** On average, the newest block first; better known when {@link Queue.isOver}. */
  waits(): QueuedWait[];
}

interface QueuedBlock extends BlockEnd, Pick<BlockBefore, 'block' | 'from'> {}

export class Queue {
  readonly arrivals = new Arrivals();
  #blocks: QueuedBlock[] = [];
  #backlog: ReturnType<typeof newBacklog> | undefined;
  /** Unix time at which a server has begun to listen, if that was seen. */
  #listensSince = Number.NEGATIVE_INFINITY;
  #hasServed = false;

  /** A server begins to listen: before, nobody could come, unless another one has served. */
  listens(now: number): void {
    if (this.#hasServed) return;
    this.#listensSince = now;
    this.#blocks = [];
    this.#backlog = undefined;
  }

  /** Hot: asked for each span that starts. */
  get isEmpty(): boolean {
    return this.#blocks.length === 0;
  }

  add(block: RecentBlock, end: BlockEnd): void {
    this.#drop(end);
    const from = Math.max(block.start, this.#listensSince);
    if (from >= block.end) return;
    this.#blocks.push({ ...end, block, from });
    this.#backlog ??= newBacklog(from, block.end);
    this.#backlog.end = block.end;
    if (this.#blocks.length > MAX_BLOCKS) this.#blocks.splice(0, MAX_BLOCKS / 2);
  }

  /** What an entry span that begins now may have waited for. */
  before(begin: SpanBegin): Before {
    this.#drop(begin);
    this.#hasServed = true;
    const { iteration, taskStart, asyncId, beganAt } = begin;
    const backlog = this.#backlog;
    if (backlog === undefined) return { blocks: [] };
    const oldestId = (this.#blocks[0] as QueuedBlock).asyncId;
    const isFirst = asyncId > Math.max(oldestId, backlog.newestId);
    const blocks: BlockBefore[] = [];
    for (let i = this.#blocks.length - 1; i >= 0; i--) {
      const ended = this.#blocks[i] as QueuedBlock;
      const isRecent = iteration - ended.iteration <= MAX_ITERATIONS;
      if (!isRecent && !isFirst) break;
      // A task that blocked and then begins a span has not kept that waiting.
      const isBefore = Number.isNaN(taskStart)
        ? ended.iteration < iteration
        : ended.end <= taskStart;
      const isNew = isFirst && asyncId > ended.asyncId;
      // It was ready when the iteration asked for events; a new connection is read in the next one.
      const isWhole = ended.iteration >= (isNew ? iteration - 1 : iteration);
      if (isBefore && (isRecent || isNew)) {
        const { block, from } = ended;
        blocks.push({ block, from, isWhole });
      }
    }
    backlog.requests++;
    if (blocks.some(({ isWhole }) => !isWhole)) backlog.queued++;
    const comeFor = () => this.arrivals.comeFor();
    if (!isFirst) {
      backlog.isFree ||= blocks.length === 0;
      return { blocks, comeFor };
    }
    backlog.newestId = asyncId;
    if (!backlog.isFree) backlog.end = Math.max(backlog.end, beganAt);
    const number = ++backlog.connections;
    const arrival = () => {
      const came = Math.min(backlog.end - backlog.start, comeFor());
      return backlog.start + (came * number) / (backlog.connections + 1);
    };
    return { blocks, comeFor, arrival };
  }

  /** Whether nothing more is to be known of what waited. */
  isOver(now: LoopMoment): boolean {
    this.#drop(now);
    return this.#backlog === undefined || this.#backlog.requests >= MAX_REQUESTS;
  }

  /** Blocks are in order of time, and so are their iterations and idle times. */
  #drop({ iteration, idle }: LoopMoment): void {
    const isOutdated = (ended: QueuedBlock) =>
      iteration - ended.iteration > MAX_ITERATIONS_NEW || idle - ended.idle >= MIN_WAIT_MILLIS;
    const first = this.#blocks.findIndex((ended) => !isOutdated(ended));
    if (first !== 0) this.#blocks.splice(0, first === -1 ? this.#blocks.length : first);
    if (!this.isEmpty || this.#backlog === undefined) return;
    const { start, end, requests, queued } = this.#backlog;
    this.#backlog = undefined;
    this.arrivals.add({ start, end, begun: requests, came: queued });
  }
}

/** From a block until the loop waits for events again: connections are accepted in order. */
const newBacklog = (start: number, end: number) => ({
  /** Unix times: of the first block, and of the latest span of a new connection. */
  start,
  end,
  requests: 0,
  /** Those that may have come in it. */
  queued: 0,
  connections: 0,
  /** The async id of the newest connection: further requests of it were not in the backlog. */
  newestId: 0,
  /** Clients have free connections again, and open no more of them. */
  isFree: false,
});

/**
 * What a request has waited, and for what ran between the blocks and its span, which counts for the
 * newest of them. If it is not known when it arrived, it may have been at any moment alike of the
 * blocks that are not `isWhole`, as long as requests came in them. Connections that waited together
 * arrived one after the other, evenly.
 *
 * @param beganAt Unix time at which its span began
 */
export function queuedBy(
  { blocks, comeFor, arrival }: Before,
  beganAt: number,
): Queued | undefined {
  const most = waitsSince(blocks, Number.NEGATIVE_INFINITY);
  const [newest] = most;
  if (newest === undefined) return undefined;
  const longest = most.reduce((one, other) => (other.millis > one.millis ? other : one), newest);
  return {
    millis: sumOf(most),
    longest: longest.block,
    waits() {
      const arrivedAt = arrival?.();
      const waits =
        arrivedAt === undefined ? onAverage(blocks, comeFor?.()) : waitsSince(blocks, arrivedAt);
      const since = Math.max(newest.block.end, arrivedAt ?? newest.block.end);
      const afterwards = Math.max(0, beganAt - since) || 0;
      const ofNewest = { block: newest.block, millis: afterwards };
      return waits[0]?.block === newest.block
        ? [{ ...ofNewest, millis: waits[0].millis + afterwards }, ...waits.slice(1)]
        : [ofNewest, ...waits];
    },
  };
}

function waitsSince(blocks: readonly BlockBefore[], since: number): QueuedWait[] {
  return blocks
    .map(({ block, from, isWhole }) => ({
      block,
      millis: block.end - (isWhole ? from : Math.max(from, since)),
    }))
    .filter(({ millis }) => millis > 0);
}

function onAverage(
  blocks: readonly BlockBefore[],
  comeFor = Number.POSITIVE_INFINITY,
): QueuedWait[] {
  const lengthOf = ({ block, from }: BlockBefore) => block.end - from;
  const unknown = blocks.filter(({ isWhole }) => !isWhole);
  let before = unknown.reduce((sum, each) => sum + lengthOf(each), 0);
  const came = Math.min(before, comeFor);
  return blocks.map((each) => {
    const { block, isWhole } = each;
    const length = lengthOf(each);
    if (isWhole) return { block, millis: length };
    before -= length;
    // Those that had come before it waited for all of it, those that came in it for what was left.
    const earlier = Math.min(before, came);
    const within = Math.min(before + length, came) - earlier;
    return { block, millis: (length * earlier + within * (length - within / 2)) / (came || 1) };
  });
}

const sumOf = (waits: readonly QueuedWait[]) => waits.reduce((sum, { millis }) => sum + millis, 0);
