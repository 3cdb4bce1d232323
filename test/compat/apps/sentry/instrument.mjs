// What Sentry's documentation has preloaded: `node --import ./instrument.mjs app.mjs`.
import * as Sentry from '@sentry/node';

Sentry.init({ dsn: process.env.SENTRY_DSN, tracesSampleRate: 1, enableOpenTelemetrySetup: true });
