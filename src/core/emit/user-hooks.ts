/** `blockHook` and `ignoreBlockHook`. What they throw, or reject with, is logged. */
import type { Span } from '@opentelemetry/api';
import type { OnceLogger } from '../../otel/diag-once.ts';
import type { EventLoopBlock, EventLoopInstrumentationConfig } from '../../types.ts';

export class UserHooks {
  constructor(
    private readonly options: Pick<EventLoopInstrumentationConfig, 'blockHook' | 'ignoreBlockHook'>,
    private readonly log: OnceLogger,
  ) {}

  isIgnored(block: EventLoopBlock): boolean {
    const { ignoreBlockHook } = this.options;
    if (ignoreBlockHook === undefined) return false;
    return this.#call('ignoreBlockHook', () => ignoreBlockHook(block)) === true;
  }

  block(span: Span, block: EventLoopBlock): void {
    const { blockHook } = this.options;
    if (blockHook !== undefined) this.#call('blockHook', () => blockHook(span, block));
  }

  #call(name: string, hook: () => unknown): unknown {
    const failed = (error: unknown) => this.log.log('error', `${name} threw; ignored`, error);
    try {
      const result = hook();
      // An async hook that rejects would end the process as an unhandled rejection.
      if (result instanceof Promise) result.catch(failed);
      return result;
    } catch (error) {
      failed(error);
      return undefined;
    }
  }
}
