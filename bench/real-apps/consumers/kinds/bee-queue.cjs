const Queue = require('bee-queue');
const { run } = require('../work.cjs');

exports.start = async () => {
  const redis = { host: '127.0.0.1', port: Number(process.env.PEER_PORT) };
  const queue = new Queue('images', { redis });
  await queue.ready();
  queue.process(async ({ data }) => run(data));
  return {
    ask: (job) =>
      new Promise((resolve, reject) => {
        const created = queue.createJob(job).on('succeeded', resolve).on('failed', reject);
        created.save();
      }),
  };
};
