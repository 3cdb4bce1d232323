/**
 * How a service is driven from outside: it says where it listens, and ends when its standard input
 * does.
 */
const { performance } = require('node:perf_hooks');
const { setTimeout: wait } = require('node:timers/promises');
const { note } = require('./truth.cjs');

/**
 * Blocks are reported in a `setImmediate` after they ended: this long the loop is left to turn,
 * idle.
 */
const SETTLE_MILLIS = 25;

/** @param close stops the server, then shuts the SDK down; the process then has to end by itself */
async function serveUntilInputEnds(port, close) {
  process.stdout.write(`listening ${port}\n`);
  for await (const _ of process.stdin);
  await wait(SETTLE_MILLIS);
  await close();
  note('finished', performance.timeOrigin + performance.now());
}

/** The same for a server of `node:http`, which is not listening yet. */
async function serveHttp(server, shutdown) {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  await serveUntilInputEnds(server.address().port, async () => {
    server.close();
    server.closeAllConnections();
    await shutdown();
  });
}

module.exports = { serveHttp, serveUntilInputEnds };
