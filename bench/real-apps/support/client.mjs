// Guarantees: one case is asked at a time, in a trace of its own, and what comes back is kept, to
// be compared.
import { createHash, randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';

export class Client {
  /** @type {string[]} */
  #answers = [];
  traceId = '';

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
    this.traceId = randomBytes(16).toString('hex');
    this.#answers = [];
  }

  /** A package of the application. */
  load(/** @type {string} */ name) {
    return this.#require(name);
  }

  /** What the application answered since `begin`. */
  get answers() {
    return this.#answers.join('\n');
  }

  /** Keeps an answer that did not come by `request`. */
  answered(/** @type {unknown} */ value) {
    this.#answers.push(digest(Buffer.from(JSON.stringify(value) ?? '')));
  }

  /** So that the request is in the trace of the case. */
  get headers() {
    return { traceparent: `00-${this.traceId}-${randomBytes(8).toString('hex')}-01` };
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

const digest = (/** @type {Buffer} */ content) =>
  `${content.length} ${createHash('sha256').update(content).digest('hex').slice(0, 12)}`;
