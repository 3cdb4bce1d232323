/**
 * A service that sends itself thirty requests, or as many as its argument says, one after the
 * other, and blocks in each. Then it prints `alive`, and has to end by itself. Required after the
 * other tool is set up.
 */
const { subscribe } = require('node:diagnostics_channel');
const { once } = require('node:events');
const { createServer, get } = require('node:http');
const { setTimeout: wait } = require('node:timers/promises');
const { running } = require('./thread-times.cjs');
const { note, readRunDelays, truthOf, unixTime } = require('./truth.cjs');

const [requests = 30] = process.argv.slice(2).map(Number);
const BLOCK_MILLIS = 150;
/** The loop idles: a tool that watches it sees each block begin. */
const PAUSE_MILLIS = 60;
/** The watchdog thread, and the threads of the other tool, start once the loop turns. */
const START_MILLIS = 500;
/** Between two errors of an order: 0.1 ms each. */
const ORDERS_AN_ERROR = 200;

let hash = 0;

/** Throws and catches errors as well: tools that collect local variables stop at each of them. */
function hashOrders(millis) {
  const goesOn = running(millis);
  let lastError;
  for (let order = 1; goesOn(); order++) {
    try {
      for (let i = 0; i < 100_000; i++) hash = Math.imul(hash ^ i, 0x01000193);
      if (order % ORDERS_AN_ERROR === 0) throw new Error(`order ${order}: wrong hash ${hash}`);
    } catch (error) {
      lastError = error;
    }
  }
  return lastError;
}

/**
 * @param report gives the tool an error
 * @param flush waits until the tool has sent what it has
 */
subscribe('opentelemetry-instrumentation-event-loop:block', ({ block }) => {
  // The console counts most blocks of one place in one line.
  process.stderr.write(`${JSON.stringify({ type: 'event-loop-block', ...block })}\n`);
});

async function serveThirtyBlocks({ report = () => {}, flush = async () => {} } = {}) {
  let count = 0;
  const server = createServer((_request, response) => {
    const label = `block ${++count}`;
    const error = truthOf(label, () => hashOrders(BLOCK_MILLIS));
    if (error !== undefined) report(error);
    response.end('hashed\n');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  await wait(START_MILLIS);
  for (let i = 0; i < requests; i++) {
    const [response] = await once(get({ port: server.address().port, agent: false }), 'response');
    await once(response.resume(), 'end');
    await wait(PAUSE_MILLIS);
    readRunDelays();
  }
  server.close();
  await flush();
  console.log('alive');
  note('finished', unixTime());
}

module.exports = { serveThirtyBlocks };
