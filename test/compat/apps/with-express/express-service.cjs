/**
 * The service of most subjects. Required after the telemetry is set up: instrumentations patch what
 * is loaded from then on.
 */
const { createServer } = require('node:http');
const express = require('express');
const { block, blockInSteps, warm } = require('./work.cjs');

function expressService() {
  const app = express();
  app.get('/warm', (_req, res) => res.json(warm()));
  app.get('/handler', (_req, res) => res.json(block()));
  app.get('/steps', async (_req, res) => res.json(await blockInSteps()));
  return createServer(app);
}

module.exports = { expressService };
