/**
 * Logs of OpenTelemetry, as far as this package uses them. Their API is a package of its own,
 * `@opentelemetry/api-logs`, before api 1.10: neither is imported, both register a provider.
 */
import type { Attributes, Context, TimeInput } from '@opentelemetry/api';
import { apiRegistry } from './api-registry.ts';

export interface LogRecord {
  eventName?: string;
  timestamp?: TimeInput;
  severityNumber?: number;
  severityText?: string;
  body?: string;
  attributes?: Attributes;
  context?: Context;
}

export interface Logger {
  emit(record: LogRecord): void;
  /** Absent in older versions of the API. */
  enabled?(options?: { context?: Context; severityNumber?: number; eventName?: string }): boolean;
}

export interface LoggerProvider {
  getLogger(name: string, version?: string): Logger;
}

const API_LOGS = Symbol.for('io.opentelemetry.js.api.logs');
const API_LOGS_VERSION = 1;

/** What api-logs registers: its provider, for those who ask for this version. */
type ProviderOfVersion = (version: number) => LoggerProvider | undefined;

/** The provider that is registered, with whichever of the two; undefined where there is none. */
export function globalLoggerProvider(): LoggerProvider | undefined {
  const ofVersion = (globalThis as { [API_LOGS]?: ProviderOfVersion })[API_LOGS];
  return apiRegistry().logs ?? ofVersion?.(API_LOGS_VERSION);
}
