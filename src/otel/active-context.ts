/** The context that is active, also in a thread without an SDK, whose requests have one each. */
import { type Context, context } from '@opentelemetry/api';

let ofRequest: (() => Context | undefined) | undefined;

/** Runs inside stack samples. */
export const activeContext = (): Context => ofRequest?.() ?? context.active();

/** @param find the context of the request that runs, as far as it can tell */
export function findContextBy(find: typeof ofRequest): void {
  ofRequest = find;
}
