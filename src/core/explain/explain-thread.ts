/** The main thread's side of the thread that explains. It never keeps the process alive. */
import { MessageChannel, receiveMessageOnPort, type Worker } from 'node:worker_threads';
import { startThread } from '../../support/own-threads.ts';
import { wait } from '../../support/time.ts';
import { EXPLAIN_CODE } from '../../worker-code.generated.ts';
import type { ExplainThreadData, Reply, Request } from './protocol.ts';

export class ExplainThread {
  readonly #worker: Worker;
  readonly #port;
  readonly #sent = new Int32Array(new SharedArrayBuffer(4));
  #received = 0;

  /**
   * @param onReply must not throw
   * @param onEnd must not throw; there is an error unless it ended since it idled
   * @throws if the process may not start a thread
   */
  constructor(
    data: Omit<ExplainThreadData, 'port' | 'sent'>,
    private readonly onReply: (reply: Reply) => void,
    onEnd: (error: unknown) => void,
  ) {
    const { port1, port2 } = new MessageChannel();
    const sent = this.#sent;
    this.#port = port1;
    this.#worker = startThread(EXPLAIN_CODE, {
      name: 'event-loop-explain',
      env: {},
      // A map of 32 MB that has nothing but mappings takes 580 MB.
      resourceLimits: { maxOldGenerationSizeMb: 768, stackSizeMb: 1 },
      workerData: { ...data, port: port2, sent } satisfies ExplainThreadData,
      transferList: [port2],
    });
    let error: unknown;
    this.#worker.on('error', (its) => {
      error = its;
    });
    this.#worker.on('exit', () => onEnd(error));
    this.#worker.unref();
    this.#port.on('message', (reply: Reply) => this.#take(reply));
    this.#port.unref();
  }

  send(request: Request): void {
    this.#port.postMessage(request);
  }

  /** Takes what has arrived. Blocks for at most `waitMillis` until there is something. */
  receive(waitMillis = 0): void {
    if (waitMillis > 0) wait(this.#sent, 0, this.#received, waitMillis);
    for (;;) {
      const next = receiveMessageOnPort(this.#port);
      if (next === undefined) return;
      this.#take(next.message as Reply);
    }
  }

  terminate(): void {
    this.#port.close();
    this.#worker.terminate().catch(() => {});
  }

  #take(reply: Reply): void {
    this.#received++;
    this.onReply(reply);
  }
}
