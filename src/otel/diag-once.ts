/**
 * Says a thing once: the same trouble, met again and again, is logged a single time. What is said before there is a logger is kept until
 * there is one: `new NodeSDK()` sets it, and the instrumentations that it is given were made before.
 */
import { type DiagLogger, diag } from '@opentelemetry/api';
import { PACKAGE_NAME } from '../version.ts';
import { apiRegistry } from './api-registry.ts';

type Level = 'debug' | 'info' | 'warn' | 'error';

export class OnceLogger {
  /** Causes are literals in this package, so this is bounded. */
  readonly #said = new Set<string>();
  #unheard: (() => void)[] = [];
  readonly #logger: DiagLogger;

  constructor(logger: DiagLogger = diag.createComponentLogger({ namespace: PACKAGE_NAME })) {
    this.#logger = logger;
  }

  /** Logs `message` unless that was done before. Never throws, whatever the logger does. */
  log(level: Level, message: string, ...details: unknown[]): void {
    if (this.#said.has(message)) return;
    this.#said.add(message);
    this.#unheard.push(() => this.#logger[level](message, ...details));
    this.catchUp();
  }

  /** Logs what was said before there was a logger, if there is one now. To be called now and then. Never throws. */
  catchUp(): void {
    if (this.#unheard.length === 0 || apiRegistry().diag === undefined) return;
    for (const say of this.#unheard.splice(0)) {
      try {
        say();
      } catch {
        // A logger that throws leaves nobody to tell.
      }
    }
  }
}
