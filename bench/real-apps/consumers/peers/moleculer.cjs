const { ServiceBroker } = require('moleculer');
const { listen } = require('./aedes.cjs');

listen().then(async (port) => {
  const broker = new ServiceBroker({
    nodeID: 'uploads',
    logger: false,
    transporter: `mqtt://127.0.0.1:${port}`,
  });
  broker.createService({
    name: 'uploads',
    actions: {
      async announce({ params }) {
        await broker.waitForServices('images');
        broker.emit('image.uploaded', params);
      },
    },
  });
  await broker.start();
  process.send(port);
});
