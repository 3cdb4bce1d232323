/** Lambda's runtime API, as far as a function needs it: invocations, one after the other. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const ID = 'lambda-runtime-aws-request-id';

export class RuntimeApi {
  readonly #server: Server;
  #waiting: ServerResponse | undefined;
  #event: object | undefined;
  #onResponse: (body: string) => void = () => {};
  #count = 0;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      if (request.method === 'GET') {
        this.#waiting = response;
        this.#deliver();
        return;
      }
      let body = '';
      for await (const chunk of request) body += chunk;
      response.writeHead(202).end();
      this.#onResponse(body);
    });
  }

  static async listen(): Promise<RuntimeApi> {
    const api = new RuntimeApi();
    api.#server.listen(0, '127.0.0.1');
    await once(api.#server, 'listening');
    return api;
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The function's result. */
  invoke(event: object): Promise<string> {
    return new Promise((resolve) => {
      this.#onResponse = resolve;
      this.#event = event;
      this.#deliver();
    });
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #deliver(): void {
    if (this.#waiting === undefined || this.#event === undefined) return;
    this.#waiting.setHeader(ID, `${++this.#count}`).end(JSON.stringify(this.#event));
    this.#waiting = undefined;
    this.#event = undefined;
  }
}
