/**
 * Preloaded: Sentry's SDK, as its README sets it up, sending to SENTRY_DSN; if SENTRY_FINDS_BLOCKS
 * is `false`, without what finds blocks.
 */
const { init } = require('@sentry/node');
const { eventLoopBlockIntegration } = require('@sentry/node-native');

init({
  dsn: process.env.SENTRY_DSN,
  tracesSampleRate: 1,
  integrations:
    process.env.SENTRY_FINDS_BLOCKS === 'false'
      ? []
      : [eventLoopBlockIntegration({ threshold: 100, maxEventsPerHour: 1e6 })],
});
