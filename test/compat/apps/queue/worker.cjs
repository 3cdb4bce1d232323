/**
 * BullMQ: a request adds a job and waits for it; a worker in the same process does it, and blocks
 * the event loop meanwhile.
 */
const { startNodeSdk } = require('./support/node-sdk.cjs');

const shutdown = startNodeSdk();
const { createServer } = require('node:http');
const { Queue, QueueEvents, Worker } = require('bullmq');
const { BullMQOtel } = require('bullmq-otel');
const { startRedis } = require('./redis.cjs');
const { serveHttp } = require('./support/serve.cjs');
const { block, blockInSteps, warm } = require('./support/work.cjs');

const JOBS = { warm, handler: block, steps: blockInSteps };

(async () => {
  const redis = await startRedis();
  const options = { connection: redis.connection, telemetry: new BullMQOtel('orders') };
  const queue = new Queue('orders', options);
  const events = new QueueEvents('orders', { connection: redis.connection });
  const worker = new Worker('orders', (job) => JOBS[job.name](), options);
  await Promise.all([events.waitUntilReady(), worker.waitUntilReady()]);

  const server = createServer(async (request, response) => {
    const job = await queue.add(request.url.slice(1), {});
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(await job.waitUntilFinished(events)));
  });
  await serveHttp(server, async () => {
    await worker.close();
    await events.close();
    await queue.close();
    await redis.close();
    await shutdown();
  });
})();
