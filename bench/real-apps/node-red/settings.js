// Node-RED's settings: helpers for function nodes, and a middleware of the company.
const { catalogue, quote } = require('./lib/pricing');

module.exports = {
  uiPort: process.env.PORT,
  uiHost: '127.0.0.1',
  httpAdminRoot: false,
  nodesDir: `${__dirname}/nodes`,
  functionGlobalContext: { catalogue, quote },
  apiMaxLength: '20mb',
  logging: { console: { level: 'error' } },
  telemetry: { enabled: false },
  httpNodeMiddleware: function countRequests(req, res, next) {
    countRequests.seen = (countRequests.seen ?? 0) + 1;
    next();
  },
};
