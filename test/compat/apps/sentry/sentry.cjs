/**
 * `@sentry/node` with a tracer provider of its own, which takes spans of the OpenTelemetry API
 * if it is asked to.
 */
const Sentry = require('@sentry/node');
const { registerInstrumentations } = require('@opentelemetry/instrumentation');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');

Sentry.init({ dsn: process.env.SENTRY_DSN, tracesSampleRate: 1, enableOpenTelemetrySetup: true });
registerInstrumentations({ instrumentations: [new EventLoopInstrumentation()] });
const { expressService } = require('./support/express-service.cjs');
const { serveHttp } = require('./support/serve.cjs');

serveHttp(expressService(), () => Sentry.close());
