/**
 * How a service is driven from outside: it says where it listens, and ends when its standard input
 * does.
 */
const { setTimeout: wait } = require('node:timers/promises');
const { note, unixTime } = require('./truth.cjs');

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
  note('finished', unixTime());
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
