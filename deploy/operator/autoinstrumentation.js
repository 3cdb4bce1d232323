/**
 * What the OpenTelemetry Operator preloads into each application, by this name. The packages beside
 * this file are used, whatever the application has installed. Never throws: a preload that throws
 * ends the application before it begins.
 */
const NAME = 'opentelemetry-instrumentation-event-loop';

globalThis[Symbol.for(`${NAME}.packages-from.v1`)] = __filename;
try {
  require(`${NAME}/register`);
} catch (error) {
  process.stderr.write(`${NAME}: cannot start: ${error.message}\n`);
}
