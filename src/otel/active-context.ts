/** The context that is active, also in a thread without an SDK, whose requests have one each. */
import { type Context, context } from '@opentelemetry/api';

interface Requests {
  /** That of the request that runs, as far as it can be told. Called inside stack samples. */
  running(): Context | undefined;
  /** That of the request that was answered between two times, if it was one. */
  answeredIn(start: number, end: number): Context | undefined;
}

let requests: Requests | undefined;

/** Runs inside stack samples. */
export const activeContext = (): Context => requests?.running() ?? context.active();

/** Who has answered, in code that does not say whose it is, has most likely run it. */
export const contextOfAnswer = (start: number, end: number): Context | undefined =>
  requests?.answeredIn(start, end);

export function findContextBy(found: Requests | undefined): void {
  requests = found;
}
