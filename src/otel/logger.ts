/**
 * Log records, through whichever package the SDK registers its provider with: `@opentelemetry/api`
 * from 1.10 on, or any copy of `@opentelemetry/api-logs` before. A logger that one of them gives
 * before there is an SDK never follows a provider that is registered with another one.
 */
import type { Attributes, Context, HrTime } from '@opentelemetry/api';
import { apiRegistry } from './api-registry.ts';

/** The value of `SeverityNumber.WARN` in `@opentelemetry/api-logs`. */
export const SEVERITY_WARN = 13;

export interface LogRecord {
  readonly eventName: string;
  readonly timestamp: HrTime;
  readonly severityNumber: number;
  readonly severityText: string;
  readonly body: string;
  readonly attributes: Attributes;
  readonly context: Context;
}

/** A `Logger` of OpenTelemetry, as far as it is used; older ones have no `enabled`. */
export interface Logger {
  emit(record: LogRecord): void;
  enabled?(options: Pick<LogRecord, 'context' | 'eventName' | 'severityNumber'>): boolean;
}

export interface LoggerProvider {
  getLogger(name: string, version?: string): Logger;
}

/** Under this key of `globalThis`, `@opentelemetry/api-logs` keeps its provider. */
const GLOBAL = Symbol.for('io.opentelemetry.js.api.logs');
const COMPATIBILITY_VERSION = 1;

/** Undefined before an SDK for logs is registered. */
export function globalLoggerProvider(): LoggerProvider | undefined {
  const { logs } = apiRegistry();
  if (logs !== undefined) return logs as LoggerProvider;
  const get = (globalThis as { [GLOBAL]?: (version: number) => LoggerProvider })[GLOBAL];
  return get?.(COMPATIBILITY_VERSION);
}

/** The logger in force: of the provider that was given, else of the global one. */
export class LoggerSource {
  #given: LoggerProvider | undefined;
  #provider: LoggerProvider | undefined;
  #logger: Logger | undefined;

  constructor(
    private readonly name: string,
    private readonly version: string,
  ) {}

  /** @param provider the global one, or one that follows it, means: whichever is global */
  use(provider: LoggerProvider): void {
    const followsGlobal = provider === globalLoggerProvider() || '_setDelegate' in provider;
    this.#given = followsGlobal ? undefined : provider;
  }

  get(): Logger | undefined {
    const provider = this.#given ?? globalLoggerProvider();
    if (provider !== this.#provider) {
      this.#provider = provider;
      this.#logger = provider?.getLogger(this.name, this.version);
    }
    return this.#logger;
  }
}
