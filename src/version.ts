/**
 * The package's name and version, as telemetry scopes carry them. A test compares them with
 * package.json.
 */
export const PACKAGE_NAME = 'opentelemetry-instrumentation-event-loop';
export const PACKAGE_VERSION = '0.1.0-dev.0';
