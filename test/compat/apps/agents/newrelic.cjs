/** New Relic's agent, which is set up by environment variables. */
const newrelic = require('newrelic');
const { serveThirtyBlocks } = require('./support/thirty-blocks.cjs');

serveThirtyBlocks({
  report: (error) => newrelic.noticeError(error),
  flush: () => new Promise((resolve) => newrelic.shutdown({ collectPendingData: true }, resolve)),
});
