/**
 * Elastic's own agent, the one before its distribution of OpenTelemetry. It is told the version of
 * the server, which the server of the test cannot tell.
 */
const apm = require('elastic-apm-node').start({ apmServerVersion: '9.0.0' });
const { serveThirtyBlocks } = require('./support/thirty-blocks.cjs');

serveThirtyBlocks({
  report: (error) => apm.captureError(error),
  flush: () => apm.flush(),
});
