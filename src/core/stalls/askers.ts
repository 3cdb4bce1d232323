/**
 * Who asked for a block of a message, or of nobody: a queue, a worker or a connection has run a job
 * for a request, which goes on in the nextTicks and promise reactions after it. It did not wait for
 * the event loop.
 */
import type { Span } from '@opentelemetry/api';
import { inRootContext } from '../../otel/root-context.ts';
import { nextTick } from '../../support/time.ts';
import { lineOf } from './open-spans.ts';

/** NextTicks one after the other until the span of a response that was sent in the first ends. */
const ROUNDS = 4;

export class Askers {
  #ids: Set<string> | undefined;

  /** Hot. Code of this span runs: it starts, or a span inside it does, or it ends. */
  saw(span: Span | undefined): void {
    if (this.#ids === undefined) return;
    for (const each of lineOf(span)) this.#ids.add(each.spanContext().spanId);
  }

  /**
   * A block has just ended.
   * @param found called when what drains after it is over; given the ids of the spans that ran then
   */
  after(found: (ids: ReadonlySet<string>) => void): void {
    const ids = new Set<string>();
    this.#ids = ids;
    const wait = (rounds: number) =>
      nextTick(() => {
        if (rounds > 0) return wait(rounds - 1);
        if (this.#ids === ids) this.#ids = undefined;
        found(ids);
      });
    // NextTicks run before the promise reactions that wait already.
    inRootContext(() => void Promise.resolve().then(() => wait(ROUNDS)));
  }
}
