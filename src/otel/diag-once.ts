/**
 * Logs a message once, however often its cause occurs. Messages from before there is a logger are
 * kept until there is one: `new NodeSDK()` sets it, and the instrumentations that it is given were
 * made before.
 */
import { type DiagLogger, diag } from '@opentelemetry/api';
import { attempt } from '../support/guard.ts';
import { PACKAGE_NAME } from '../version.ts';
import { apiRegistry } from './api-registry.ts';

type Level = 'debug' | 'info' | 'warn' | 'error';

/**
 * What failed in the middle of what the application runs. It is assigned there, since that calls
 * nothing: the logger is the application's, and there may be no stack left.
 */
export interface Faults {
  inHook?: unknown;
  inSample?: unknown;
}

export class OnceLogger {
  /** Logged by {@link catchUp}. */
  readonly faults: Faults = {};
  /** Causes are literals in this package, so this is bounded. */
  readonly #logged: string[] = [];
  #waiting: (() => void)[] = [];
  readonly #logger: Pick<DiagLogger, Level>;

  /** @param isReady whether the logger can be used by now */
  constructor(
    logger: Pick<DiagLogger, Level> = diag.createComponentLogger({ namespace: PACKAGE_NAME }),
    private readonly isReady = () => apiRegistry().diag !== undefined,
  ) {
    this.#logger = logger;
  }

  /** Logs `message` unless that was done before. Never throws, whatever the logger does. */
  log(level: Level, message: string, ...details: unknown[]): void {
    this.#remember(level, message, details);
    this.catchUp();
  }

  /** Logs at the next {@link catchUp}: for what may run in the middle of the application's code. */
  readonly later = {
    log: (level: Level, message: string, ...details: unknown[]) =>
      this.#remember(level, message, details),
  };

  #remember(level: Level, message: string, details: readonly unknown[]): void {
    try {
      if (this.#logged.includes(message)) return;
      this.#logged.push(message);
      this.#waiting.push(() => this.#logger[level](message, ...details));
    } catch {
      // Nothing is left to log it with.
    }
  }

  /** Logs what waits, if there is a logger now. Call it now and then. Never throws. */
  catchUp(): void {
    try {
      this.#noteFaults();
      if (this.#waiting.length === 0 || !this.isReady()) return;
      for (const write of this.#waiting.splice(0)) attempt(write);
    } catch {
      // Nothing is left to log it with.
    }
  }
  #noteFaults(): void {
    const { inHook, inSample } = this.faults;
    if (inHook !== undefined)
      this.#remember('error', 'internal error; detection continues', [inHook]);
    if (inSample !== undefined) this.#remember('warn', 'a stack sample was lost', [inSample]);
    this.faults.inHook = undefined;
    this.faults.inSample = undefined;
  }
}
