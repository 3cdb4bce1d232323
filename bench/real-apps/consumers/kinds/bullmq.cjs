const { Queue, QueueEvents, Worker } = require('bullmq');
const { run } = require('../work.cjs');

exports.start = async () => {
  const connection = {
    host: '127.0.0.1',
    port: Number(process.env.PEER_PORT),
    maxRetriesPerRequest: null,
  };
  const queue = new Queue('images', { connection });
  const events = new QueueEvents('images', { connection });
  const worker = new Worker('images', async ({ data }) => run(data), { connection });
  await Promise.all([worker.waitUntilReady(), events.waitUntilReady()]);
  return { ask: async (job) => (await queue.add('resize', job)).waitUntilFinished(events) };
};
