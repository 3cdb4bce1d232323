const { Bot } = require('grammy');
const { done, run } = require('../work.cjs');

exports.start = async () => {
  const bot = new Bot('1:token', {
    client: { apiRoot: `http://127.0.0.1:${process.env.PEER_PORT}` },
  });
  bot.on('message:text', (context) => run(JSON.parse(context.message.text)));
  await new Promise((resolve) => void bot.start({ onStart: resolve }));
  return {
    ask: async (job) => {
      const isDone = done(job);
      await bot.api.sendMessage(1, JSON.stringify(job));
      await isDone;
    },
  };
};
