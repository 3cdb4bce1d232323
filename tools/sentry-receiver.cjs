// Guarantees: takes what Sentry's SDK sends, envelopes of JSON lines, and says which spans and
// which events have come.
const { HttpReceiver } = require('./http-receiver.cjs');

/**
 * @typedef {object} SentrySpan
 * @property {string} trace_id
 * @property {string} span_id
 * @property {string} [parent_span_id]
 * @property {string} name
 * @property {number} start_timestamp
 * @property {number} end_timestamp
 * @property {Record<string, { value: string | number | boolean }>} attributes
 *
 * @typedef {{ at: number } & Record<string, any>} SentryEvent as it was sent; `at`:
 *   when it came, in epoch milliseconds
 */

const ENVELOPES = '/api/1/envelope/';

class SentryReceiver extends HttpReceiver {
  static async listen() {
    return new SentryReceiver().start();
  }

  get dsn() {
    return `http://public@127.0.0.1:${this.port}/1`;
  }

  /** @returns {SentrySpan[]} */
  get spans() {
    return this.#lines().flatMap(({ items = [] }) => items);
  }

  /** @returns {SentryEvent[]} those with an exception of this type */
  eventsOf(/** @type {string} */ type) {
    return this.#lines().filter(({ exception }) =>
      exception?.values?.some((/** @type {any} */ value) => value.type === type),
    );
  }

  /** @returns {any[]} each line of JSON; lines of attachments are not */
  #lines() {
    return this.received
      .filter(({ path }) => path === ENVELOPES)
      .flatMap(({ at, body }) =>
        String(body)
          .split('\n')
          .filter((line) => line.startsWith('{'))
          .map((line) => ({ ...JSON.parse(line), at })),
      );
  }
}

module.exports = { SentryReceiver };
