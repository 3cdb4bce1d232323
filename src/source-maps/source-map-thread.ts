/** The main thread's side of the thread that reads. It never keeps the process alive. */
import { MessageChannel, receiveMessageOnPort, type Worker } from 'node:worker_threads';
import { startThread } from '../support/own-threads.ts';
import { wait } from '../support/time.ts';
import { SOURCE_MAP_CODE } from '../worker-code.generated.ts';
import type { Answer, Question, SourceMapThreadData } from './source-map.worker.ts';

export class SourceMapThread {
  readonly #worker: Worker;
  readonly #port;
  readonly #answers = new Int32Array(new SharedArrayBuffer(4));
  #received = 0;

  /**
   * @param onAnswer must not throw
   * @param onEnd must not throw; there is an error unless it ended since it idled
   * @throws if the process may not start a thread
   */
  constructor(
    idleMillis: number,
    private readonly onAnswer: (answer: Answer) => void,
    onEnd: (error: unknown) => void,
  ) {
    const { port1, port2 } = new MessageChannel();
    const answers = this.#answers;
    this.#port = port1;
    this.#worker = startThread(SOURCE_MAP_CODE, {
      name: 'event-loop-source-maps',
      env: {},
      // A map of 32 MB that has nothing but mappings takes 580 MB.
      resourceLimits: { maxOldGenerationSizeMb: 768, stackSizeMb: 1 },
      workerData: { port: port2, answers, idleMillis } satisfies SourceMapThreadData,
      transferList: [port2],
    });
    let error: unknown;
    this.#worker.on('error', (its) => {
      error = its;
    });
    this.#worker.on('exit', () => onEnd(error));
    this.#worker.unref();
    this.#port.on('message', (answer: Answer) => this.#take(answer));
    this.#port.unref();
  }

  ask(question: Question): void {
    this.#port.postMessage(question);
  }

  /** Takes the answers that have arrived. Blocks for at most `waitMillis` until there is one. */
  receive(waitMillis = 0): void {
    if (waitMillis > 0) wait(this.#answers, 0, this.#received, waitMillis);
    for (;;) {
      const next = receiveMessageOnPort(this.#port);
      if (next === undefined) return;
      this.#take(next.message as Answer);
    }
  }

  terminate(): void {
    this.#port.close();
    this.#worker.terminate().catch(() => {});
  }

  #take(answer: Answer): void {
    this.#received++;
    this.onAnswer(answer);
  }
}
