const { EventEmitter, on } = require('node:events');
const { initTRPC } = require('@trpc/server');
const { applyWSSHandler } = require('@trpc/server/adapters/ws');
const { WebSocketServer } = require('ws');

const t = initTRPC.create();
const posted = new EventEmitter();
const anything = (input) => input;
const router = t.router({
  post: t.procedure.input(anything).mutation(({ input }) => void posted.emit('job', input)),
  jobs: t.procedure.subscription(async function* ({ signal }) {
    for await (const [job] of on(posted, 'job', { signal })) yield job;
  }),
});
const wss = new WebSocketServer({ port: 0, host: '127.0.0.1' }, () =>
  process.send(wss.address().port),
);
applyWSSHandler({ wss, router });
