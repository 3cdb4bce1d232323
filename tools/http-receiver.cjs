// Guarantees: an HTTP server on a loopback port that answers 200 to everything and keeps what was
// sent to it, unzipped. It reads nothing of it: the process that measures latencies beside it loses
// no time to that.
const { once } = require('node:events');
const { createServer } = require('node:http');
const { buffer } = require('node:stream/consumers');
const { gunzipSync } = require('node:zlib');

/**
 * @typedef {object} Received
 * @property {string} path
 * @property {Buffer} body unzipped
 * @property {number} at epoch milliseconds, with fractions
 */

/** The base of the receivers for one protocol each. */
class HttpReceiver {
  /** @type {Received[]} */
  received = [];
  #onReceived;
  #server;

  /** @param {(received: Received) => void} [onReceived] is called with each request as it comes */
  constructor(onReceived = () => {}) {
    this.#onReceived = onReceived;
    this.#server = createServer((request, response) => this.#take(request, response));
  }

  /** @param {number} [port] any free one, if none is given */
  async start(port = 0) {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  get port() {
    return /** @type {import('node:net').AddressInfo} */ (this.#server.address()).port;
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  /**
   * @param {string} path
   * @returns {Buffer[]} the bodies that were sent to this path
   */
  bodies(path) {
    return this.received.filter((each) => each.path === path).map(({ body }) => body);
  }

  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /**
   * @param {import('node:http').IncomingMessage} request
   * @param {import('node:http').ServerResponse} response
   */
  async #take(request, response) {
    try {
      const sent = await buffer(request);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
      const [path = ''] = (request.url ?? '').split('?');
      const received = { path, body, at: performance.timeOrigin + performance.now() };
      this.received.push(received);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      this.#onReceived(received);
    } catch (error) {
      response.destroy(/** @type {Error} */ (error));
    }
  }
}

module.exports = { HttpReceiver };
