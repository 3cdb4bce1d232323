/**
 * Which functions the requests of this thread waited for. A request is an entry span (SERVER,
 * CONSUMER) that has ended. The function of a block that it waited for may become known later: the
 * block waits to be reported, or has not ended itself.
 *
 * Guarantees: each request is reported once, and its waits add up to the time for which it waited
 * before its span began, and was stalled. No work for one of them grows with its blocks.
 */
import { now } from '../../support/time.ts';
import { FunctionSums } from './function-sums.ts';
import { type BlockWaits, NO_WAITS, type RecentBlocks } from './recent-blocks.ts';

/**
 * Requests that may wait for the functions of their blocks. More are reported at once: what is not
 * known then stays unknown.
 */
export const MAX_WAITING = 10_000;
/** They are sorted in one turn. */
const MAX_SORTED = 1000;

export interface EndedRequest {
  readonly waits: BlockWaits;
  /** Whether the functions are known that it waited for, as far as they will be. */
  isKnown(): boolean;
  /**
   * Called once; must not throw.
   * @param waits for blocks that may have functions
   */
  report(sums: FunctionSums, waits: BlockWaits): void;
}

export class EndedRequests {
  #waiting: EndedRequest[] = [];
  /** The last one is the next that is reported. */
  #known: EndedRequest[] = [];
  #sums: FunctionSums;
  readonly #noSums: FunctionSums;

  constructor(private readonly blocks: RecentBlocks) {
    this.#sums = new FunctionSums(blocks);
    this.#noSums = new FunctionSums(blocks);
  }

  get isEmpty(): boolean {
    return this.#waiting.length + this.#known.length === 0;
  }

  add(request: EndedRequest): void {
    if (this.#waiting.length >= MAX_WAITING) this.reportNow(request);
    else this.#waiting.push(request);
  }

  /** Of a request that has not waited, or too many: without the functions of blocks. */
  reportNow(request: EndedRequest): void {
    request.report(this.#noSums, NO_WAITS);
  }

  /**
   * Reports the requests whose functions are known by now.
   * @param isLast nothing more becomes known: reports all of them
   * @param until none is begun after this
   * @returns whether it is done
   */
  report(isLast = false, until = Number.POSITIVE_INFINITY): boolean {
    while (this.#known.length > 0 || this.#findKnown(isLast)) {
      const request = this.#known.pop();
      request?.report(this.#sums, request.waits);
      if (now() >= until) return false;
    }
    return true;
  }

  #findKnown(isLast: boolean): boolean {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const request of waiting) {
      const isNext = this.#known.length < MAX_SORTED && (isLast || request.isKnown());
      (isNext ? this.#known : this.#waiting).push(request);
    }
    // Each block is added up once for all that lasted through it.
    this.#known.sort((a, b) => a.waits.to - b.waits.to || a.waits.from - b.waits.from);
    this.#sums = new FunctionSums(this.blocks);
    return this.#known.length > 0;
  }
}
