// Guarantees: one case is asked at a time, in traces of its own, and what comes back is kept, to be
// compared.
import { createHash, randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';

export class Client {
  /** @type {string[]} */
  #answers = [];
  /** @type {string[]} the first one is of what is asked alone */
  traceIds = [];
  /** @type {string[]} of requests that are sent beside it */
  otherIds = [];

  /**
   * @param {string} url
   * @param {string} folder of the application
   */
  constructor(url, folder) {
    this.url = url;
    this.#require = createRequire(join(folder, 'package.json'));
  }

  /** @type {NodeJS.Require} */
  #require;

  begin() {
    this.traceIds = [newTraceId()];
    this.otherIds = [];
    this.#answers = [];
  }

  /** A package of the application. */
  load(/** @type {string} */ name) {
    return this.#require(name);
  }

  /** What the application answered since `begin`, in any order. */
  get answers() {
    return this.#answers.sort().join('\n');
  }

  /** Keeps an answer that did not come by `request`. */
  answered(/** @type {unknown} */ value) {
    this.#answers.push(digest(Buffer.from(JSON.stringify(value) ?? '')));
  }

  /** So that the request is in the trace of the case. */
  get headers() {
    return headersOf(this.traceIds[0]);
  }

  /**
   * Requests at once, each in a trace of its own.
   * @param {number} count
   * @param {string} path
   * @param {RequestInit & { json?: unknown }} [init]
   */
  together(count, path, init) {
    this.traceIds = Array.from({ length: count }, newTraceId);
    return Promise.all(
      this.traceIds.map((id) => this.get(path, { ...init, headers: merge(init, headersOf(id)) })),
    );
  }

  /**
   * One request in the middle of others, whose traces are not the case's.
   * @param {number} count
   * @param {string} other
   * @param {string} path
   * @param {RequestInit & { json?: unknown }} [init]
   */
  among(count, other, path, init) {
    this.otherIds = Array.from({ length: count }, newTraceId);
    const asks = this.otherIds.map((id) => () => this.get(other, { headers: headersOf(id) }));
    asks.splice(count / 2, 0, () => this.get(path, init));
    return Promise.all(asks.map((ask) => ask()));
  }

  /**
   * @param {string} path
   * @param {RequestInit & { json?: unknown }} [init]
   * @returns {Promise<Buffer>}
   */
  async get(path, { json, ...init } = {}) {
    const body = json === undefined ? init.body : JSON.stringify(json);
    const type = json === undefined ? {} : { 'content-type': 'application/json' };
    const response = await fetch(`${this.url}${path}`, {
      redirect: 'manual',
      ...init,
      ...(body === undefined ? {} : { body, method: init.method ?? 'POST' }),
      headers: { ...type, ...this.headers, .../** @type {any} */ (init.headers) },
    });
    const content = Buffer.from(await response.arrayBuffer());
    this.#answers.push(
      `${response.status} ${response.headers.get('content-type')} ${digest(content)}`,
    );
    if (response.status >= 400)
      throw new Error(`${path}: ${response.status} ${content.toString().slice(0, 500)}`);
    return content;
  }
}

const newTraceId = () => randomBytes(16).toString('hex');

const headersOf = (/** @type {string | undefined} */ traceId) => ({
  traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01`,
});

const merge = (/** @type {RequestInit | undefined} */ init, /** @type {object} */ headers) =>
  /** @type {any} */ ({ ...init?.headers, ...headers });

const digest = (/** @type {Buffer} */ content) =>
  `${content.length} ${createHash('sha256').update(content).digest('hex').slice(0, 12)}`;
