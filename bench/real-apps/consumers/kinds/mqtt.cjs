const mqtt = require('mqtt');
const { done, run } = require('../work.cjs');

exports.start = async () => {
  const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${process.env.PEER_PORT}`);
  client.on('message', (topic, message) => run(JSON.parse(message)));
  await client.subscribeAsync('images');
  return {
    ask: (job) => {
      client.publish('images', JSON.stringify(job));
      return done(job);
    },
  };
};
