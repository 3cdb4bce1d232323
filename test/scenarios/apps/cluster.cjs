// A cluster whose workers block their own event loops.
const cluster = require('node:cluster');
const { createInterface } = require('node:readline');
const { block, finish, startInstrumented } = require('./support/telemetry.cjs');

const { sdk } = startInstrumented();
const http = require('node:http');

if (cluster.isPrimary) {
  let listening = 0;
  for (const id of [1, 2]) {
    cluster.fork({ WORKER: String(id) }).on('listening', ({ port }) => {
      if (++listening === 2) process.stdout.write(`listening ${port}\n`);
    });
  }
  createInterface({ input: process.stdin }).on('close', () => {
    cluster.disconnect(() => finish(sdk));
  });
} else {
  const server = http.createServer((request, response) => {
    if (request.url === '/block') block(`worker ${process.env.WORKER}`, 150);
    response.end('done');
  });
  server.listen(0, '127.0.0.1');
  process.on('disconnect', () => finish(sdk));
}
