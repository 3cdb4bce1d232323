const { createTRPCClient, createWSClient, wsLink } = require('@trpc/client');
const { WebSocket } = require('ws');
const { done, run } = require('../work.cjs');

exports.start = async () => {
  const url = `ws://127.0.0.1:${process.env.PEER_PORT}`;
  const client = createTRPCClient({
    links: [wsLink({ client: createWSClient({ url, WebSocket }) })],
  });
  await new Promise((onStarted) =>
    client.jobs.subscribe(undefined, { onStarted, onData: (job) => run(job) }),
  );
  return {
    ask: async (job) => {
      const isDone = done(job);
      await client.post.mutate(job);
      await isDone;
    },
  };
};
