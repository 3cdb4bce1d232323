import { type DiagLogger, diag } from '@opentelemetry/api';

/** Installs a diag logger that keeps what is logged, as `level: message`. */
export function captureDiag(): string[] {
  const said: string[] = [];
  const keep =
    (level: string) =>
    (message: string, ...details: unknown[]) => {
      // The api's component loggers put their name in front.
      const text = message.startsWith('opentelemetry-instrumentation-event-loop')
        ? String(details[0])
        : message;
      said.push(`${level}: ${text}`);
    };
  const logger: DiagLogger = {
    error: keep('error'),
    warn: keep('warn'),
    info: keep('info'),
    debug: () => {},
    verbose: () => {},
  };
  diag.setLogger(logger, { suppressOverrideMessage: true });
  return said;
}
