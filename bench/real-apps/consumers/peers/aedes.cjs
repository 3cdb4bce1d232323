const { createServer } = require('node:net');
const { Aedes } = require('aedes');

exports.listen = async () => {
  const broker = await Aedes.createBroker();
  const server = createServer(broker.handle);
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve(server.address().port)),
  );
};
if (require.main === module) exports.listen().then((port) => process.send(port));
