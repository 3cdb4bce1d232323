/** Says a thing once: the same trouble, met again and again, is logged a single time. */
import { type DiagLogger, diag } from '@opentelemetry/api';
import { PACKAGE_NAME } from './version.ts';

type Level = 'debug' | 'info' | 'warn' | 'error';

export class OnceLogger {
  /** Causes are literals in this package, so this is bounded. */
  readonly #said = new Set<string>();
  readonly #logger: DiagLogger;

  constructor(logger: DiagLogger = diag.createComponentLogger({ namespace: PACKAGE_NAME })) {
    this.#logger = logger;
  }

  /** Logs `message` unless that was done before. Never throws, whatever the logger does. */
  log(level: Level, message: string, ...details: unknown[]): void {
    if (this.#said.has(message)) return;
    this.#said.add(message);
    try {
      this.#logger[level](message, ...details);
    } catch {
      // A logger that throws leaves nobody to tell.
    }
  }
}
