// Guarantees: a user of a product: answers in full, with the cookies that the product has set.
export class Client {
  #cookies = new Map();
  /** @type {Record<string, string>} of each request */
  headers = {};

  constructor(/** @type {string} */ url) {
    this.url = url;
  }

  /** The answer, read as JSON if it is any. */
  async ask(/** @type {string} */ path, /** @type {RequestInit} */ init = {}) {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(`${this.url}${path}`, {
      ...init,
      headers: { origin: this.url, cookie, ...this.headers, ...init.headers },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 500)}`);
    const isJson = response.headers.get('content-type')?.includes('json') && text !== '';
    return isJson ? JSON.parse(text) : text;
  }

  /** @param {string} [method] */
  post(/** @type {string} */ path, /** @type {unknown} */ json, method = 'POST') {
    const headers = { 'content-type': 'application/json' };
    return this.ask(path, { method, headers, body: JSON.stringify(json) });
  }

  together(/** @type {number} */ count, /** @type {string} */ path) {
    return Promise.all(Array.from({ length: count }, () => this.ask(path)));
  }
}
