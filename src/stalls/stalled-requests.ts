/**
 * Which functions the requests of this thread waited for. A request is an entry span (SERVER,
 * CONSUMER) that has ended. The function of a block that it waited for may become known later: the
 * block waits for source maps, or has not ended itself.
 *
 * Guarantees: each request is reported once, as soon as the functions of all its blocks are known,
 * and its waits add up to the time for which it was stalled.
 */
import { keyOf } from '../name/key.ts';
import type { CodePlace } from '../types.ts';

/**
 * Requests that may wait for the functions of their blocks. More are reported at once: what is not
 * known then stays unknown.
 */
const MAX_UNREPORTED = 10_000;

/** What is known of a block when it is reported; both are absent if it never is. */
export interface NamedBlock {
  readonly startTimeMillis?: number;
  readonly code?: CodePlace;
}

/** A block that requests waited for. */
export class StallCause {
  #block: NamedBlock | undefined;
  #key = '';
  #listeners: (() => void)[] = [];

  /** Undefined until {@link name} is called. */
  get block(): NamedBlock | undefined {
    return this.#block;
  }

  /** The same for all blocks of a function, and for all without one. */
  get key(): string {
    return this.#key;
  }

  /** The block is reported. The first call counts. */
  name({ startTimeMillis, code }: NamedBlock): void {
    if (this.#block !== undefined) return;
    this.#block = {
      ...(startTimeMillis !== undefined && { startTimeMillis }),
      ...(code !== undefined && { code: placeOf(code) }),
    };
    if (code !== undefined) this.#key = keyOf(code);
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }

  /** @param listener must not throw */
  onNamed(listener: () => void): void {
    this.#listeners.push(listener);
  }
}

/** Without the stack trace: the latest blocks are remembered. */
function placeOf(code: CodePlace): CodePlace {
  const { functionName, file, line, column, functionLine, functionColumn } = code;
  return {
    functionName,
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
    ...(functionLine !== undefined && { functionLine }),
    ...(functionColumn !== undefined && { functionColumn }),
  };
}

/** How long a request waited for one block. */
export interface Wait {
  readonly cause: StallCause;
  readonly millis: number;
}

/** The same for all blocks of one function; `code` is absent if it is not known. */
export interface FunctionWait {
  readonly code?: CodePlace;
  readonly millis: number;
}

export class StalledRequests {
  #unreported = 0;

  /**
   * A request has ended.
   * @param report is called once, now or later; must not throw
   */
  add(waits: readonly Wait[], report: () => void): void {
    const unnamed = waits.filter(({ cause }) => cause.block === undefined);
    let left = unnamed.length;
    if (left === 0 || this.#unreported >= MAX_UNREPORTED) {
      report();
      return;
    }
    this.#unreported++;
    for (const { cause } of unnamed) {
      cause.onNamed(() => {
        left--;
        if (left > 0) return;
        this.#unreported--;
        report();
      });
    }
  }
}

/** Each millisecond counts for one function. */
export function byFunction(waits: readonly Wait[]): FunctionWait[] {
  const sums = new Map<string, { readonly code?: CodePlace; millis: number }>();
  for (const { cause, millis } of waits) {
    const sum = sums.get(cause.key);
    if (sum === undefined) sums.set(cause.key, { ...codeOf(cause), millis });
    else sum.millis += millis;
  }
  return [...sums.values()];
}

function codeOf({ block }: StallCause): { readonly code?: CodePlace } {
  return block?.code === undefined ? {} : { code: block.code };
}
