/** Errors of this package are logged, and never reach the host. */

/**
 * Runs `action`, and passes on what it throws.
 * @param onError must not throw; by default the error is dropped
 * @returns undefined if it threw
 */
export function attempt<Result>(
  action: () => Result,
  onError?: (error: unknown) => void,
): Result | undefined {
  try {
    return action();
  } catch (error) {
    onError?.(error);
    return undefined;
  }
}

/**
 * For everything but hot paths, which have a `try` of their own: a closure for each call is too
 * dear there.
 */
export class Guard {
  /** @param log an `OnceLogger`: logs a message once, and never throws */
  constructor(
    private readonly log: { log(level: 'error', message: string, ...details: unknown[]): void },
  ) {}

  /** Runs `action`; what it throws is logged with `message`, once for each message. */
  run<Result>(message: string, action: () => Result): Result | undefined {
    return attempt(action, (error) => this.log.log('error', message, error));
  }
}
