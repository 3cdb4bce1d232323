const { credentials } = require('@grpc/grpc-js');
const { Jobs } = require('../jobs-service.cjs');
const { done, run } = require('../work.cjs');

exports.start = async () => {
  const client = new Jobs(`127.0.0.1:${process.env.PEER_PORT}`, credentials.createInsecure());
  const stream = client.Exchange();
  stream.on('data', run);
  return {
    ask: (job) => {
      stream.write(job);
      return done(job);
    },
  };
};
