const { ServiceBroker } = require('moleculer');
const { done, run } = require('../work.cjs');

exports.start = async () => {
  const broker = new ServiceBroker({
    nodeID: 'images',
    logger: false,
    transporter: `mqtt://127.0.0.1:${process.env.PEER_PORT}`,
  });
  broker.createService({
    name: 'images',
    events: { 'image.uploaded': (context) => run(context.params) },
  });
  await broker.start();
  await broker.waitForServices('uploads');
  return {
    ask: async (job) => {
      const isDone = done(job);
      await broker.call('uploads.announce', job);
      await isDone;
    },
  };
};
