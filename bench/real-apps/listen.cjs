/**
 * Preloaded by real-apps.mjs: writes every block that this package publishes to the file in
 * REAL_APPS_BLOCKS, one a line, as JSON.
 */
const { appendFile } = require('node:fs');
const { subscribe } = require('node:diagnostics_channel');

subscribe('opentelemetry-instrumentation-event-loop:block', ({ block }) =>
  appendFile(process.env.REAL_APPS_BLOCKS, `${JSON.stringify(block)}\n`, () => {}),
);
