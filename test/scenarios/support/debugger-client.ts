/** As much of a debugger as is needed here: it asks an inspector, and hears what that says. */
import { once } from 'node:events';
import WebSocket from 'ws';

interface Message {
  id?: number;
  method?: string;
  result?: unknown;
}

export class DebuggerClient {
  readonly #socket: WebSocket;
  #calls = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  static async attach(url: string): Promise<DebuggerClient> {
    const socket = new WebSocket(url);
    await once(socket, 'open');
    return new DebuggerClient(socket);
  }

  async call(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#calls;
    const answer = this.#next((message) => message.id === id);
    this.#socket.send(JSON.stringify({ id, method, params }));
    return (await answer).result;
  }

  /** When the inspector next says that this has happened. */
  async event(method: string): Promise<void> {
    await this.#next((message) => message.method === method);
  }

  async detach(): Promise<void> {
    this.#socket.close();
    await once(this.#socket, 'close');
  }

  #next(isWanted: (message: Message) => boolean): Promise<Message> {
    return new Promise((resolve) => {
      this.#socket.on('message', (data) => {
        const message = JSON.parse(String(data)) as Message;
        if (isWanted(message)) resolve(message);
      });
    });
  }
}
