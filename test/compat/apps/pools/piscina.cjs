/**
 * A service that has its work done by a pool of worker threads: the SDK is in each of them, and the
 * trace goes on there.
 */
const { join } = require('node:path');
const { context, propagation } = require('@opentelemetry/api');
const { startTelemetry } = require('./telemetry.cjs');

const shutdown = startTelemetry();
const { createServer } = require('node:http');
const { Piscina } = require('piscina');
const { serveHttp } = require('./support/serve.cjs');

const pool = new Piscina({
  filename: join(__dirname, 'piscina-task.cjs'),
  maxThreads: 1,
  minThreads: 1,
  atomics: 'async',
});

async function run(name) {
  const carrier = {};
  propagation.inject(context.active(), carrier);
  return pool.run({ name, carrier });
}

const server = createServer(async (req, res) => {
  res.end(JSON.stringify(await run(req.url.slice(1))));
});

serveHttp(server, async () => {
  await run('shutdown');
  await pool.close();
  await shutdown();
});
