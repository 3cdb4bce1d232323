/**
 * Which functions the requests of this thread waited for. A request is an entry span (SERVER,
 * CONSUMER) that has ended. The function of a block that it waited for may become known later: the
 * block waits to be reported, or has not ended itself.
 *
 * Guarantees: each request is reported once, and its waits add up to the time for which it waited
 * before its span began, and was stalled.
 */
import type { RequestWait } from '../report/request-channel.ts';
import type { RecentBlock } from './recent-blocks.ts';

/**
 * Requests that may wait for the functions of their blocks. More are reported at once: what is not
 * known then stays unknown.
 */
export const MAX_WAITING = 10_000;

export interface Wait {
  /** Undefined until the block of a pile-up is known. */
  block: RecentBlock | undefined;
  /** If the pile-up had not ended. */
  readonly pileUp?: { readonly start: number; readonly end: number };
  readonly millis: number;
  /** Before its span began. */
  readonly isQueued?: true;
  /** Made once the block is named: a thousand requests may have the same wait. */
  named?: RequestWait;
}

export class EndedRequests {
  #waiting: {
    /** Whether the functions are known that it waited for, as far as they will be. */
    isKnown(): boolean;
    /** Called once; must not throw. */
    report(): void;
  }[] = [];

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  add(request: { isKnown(): boolean; report(): void }): void {
    if (this.#waiting.length >= MAX_WAITING || request.isKnown()) request.report();
    else this.#waiting.push(request);
  }

  /**
   * Reports the requests whose functions are known by now.
   * @param isLast nothing more becomes known: reports all of them
   */
  report(isLast = false): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const request of waiting) {
      if (isLast || request.isKnown()) request.report();
      else this.#waiting.push(request);
    }
  }
}
