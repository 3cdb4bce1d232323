const { Server, ServerCredentials } = require('@grpc/grpc-js');
const { Jobs } = require('../jobs-service.cjs');

const server = new Server();
server.addService(Jobs.service, { Exchange: (call) => call.on('data', (job) => call.write(job)) });
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (_error, port) =>
  process.send(port),
);
