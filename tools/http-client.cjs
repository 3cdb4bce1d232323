// Guarantees: HTTP requests, answered in full before they are resolved. `send` takes any status,
// `sendOk` and `getJson` reject what is not 2xx and name the request.
const { request } = require('node:http');
const { buffer } = require('node:stream/consumers');

/** Longer than anything that is waited for here. */
const TIMEOUT_MILLIS = 120_000;
/** For what does not compute. */
const API_TIMEOUT_MILLIS = 10_000;

/**
 * @typedef {object} Options
 * @property {string} [method]
 * @property {Record<string, string>} [headers]
 * @property {Buffer | string | undefined} [body] JSON
 * @property {import('node:http').Agent | false} [agent] `false`: a connection of its own
 * @property {string} [socketPath]
 * @property {number} [timeoutMillis] from which on nothing coming rejects it
 *
 * @typedef {object} Answer
 * @property {number} status
 * @property {import('node:http').IncomingHttpHeaders} headers
 * @property {Buffer} body
 */

/**
 * @param {string} url
 * @param {Options} [options]
 * @returns {Promise<Answer>}
 */
function send(url, options = {}) {
  const { body, headers, timeoutMillis = TIMEOUT_MILLIS, ...rest } = options;
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        ...rest,
        timeout: timeoutMillis,
        headers: {
          ...(body !== undefined && {
            'content-type': 'application/json',
            'content-length': String(Buffer.byteLength(body)),
          }),
          ...headers,
        },
      },
      (response) => {
        const { statusCode: status = 0 } = response;
        buffer(response).then(
          (read) => resolve({ status, headers: response.headers, body: read }),
          reject,
        );
      },
    );
    sent.once('timeout', () => sent.destroy(new Error(`no answer within ${timeoutMillis} ms`)));
    sent.once('error', reject);
    sent.end(body);
  });
}

/**
 * @param {string} url
 * @param {Options} [options]
 * @returns {Promise<Answer>}
 */
async function sendOk(url, options) {
  const answer = await send(url, options);
  if (answer.status >= 200 && answer.status < 300) return answer;
  const { method = 'GET' } = options ?? {};
  throw new Error(
    `${method} ${url} answered ${answer.status}: ${String(answer.body).slice(0, 500)}`,
  );
}

/**
 * @param {string} url
 * @param {Options} [options]
 * @returns {Promise<any>}
 */
async function getJson(url, options) {
  return JSON.parse(
    String((await sendOk(url, { timeoutMillis: API_TIMEOUT_MILLIS, ...options })).body),
  );
}

module.exports = { getJson, send, sendOk };
