/**
 * `@sentry/node` with the two integrations that debug the main thread from a worker thread: the
 * one pauses it while it is blocked, the other at each error.
 */
const Sentry = require('@sentry/node');

Sentry.init({
  dsn: process.env.SENTRY_DSN,
  tracesSampleRate: 1,
  includeLocalVariables: true,
  integrations: [
    Sentry.anrIntegration({
      captureStackTrace: true,
      anrThreshold: 50,
      pollInterval: 20,
      maxAnrEvents: 1000,
    }),
  ],
});
const { serveThirtyBlocks } = require('./support/thirty-blocks.cjs');

serveThirtyBlocks({
  report: (error) => Sentry.captureException(error),
  flush: () => Sentry.close(),
});
