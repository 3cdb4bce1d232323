/**
 * The main thread's side of the thread that reads and decodes source maps.
 *
 * Guarantees: the thread ends itself when nobody has asked for a while, and never keeps the process
 * alive.
 */
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
} from 'node:worker_threads';
import { clearTimeout, setTimeout, wait } from '../support/time.ts';
import { SOURCE_MAP_CODE } from '../worker-code.generated.ts';
import type {
  SourceMapAnswer,
  SourceMapRequest,
  SourceMapThreadData,
} from './source-map.worker.ts';

/** None of them may throw. */
export interface SourceMapThreadEvents {
  onAnswer(answer: SourceMapAnswer): void;
  onError(error: unknown): void;
  /** It has ended, and not by `end` or because it idled. */
  onFailure(): void;
}

export class SourceMapThread {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #answers = new Int32Array(new SharedArrayBuffer(4));
  readonly #idleTimer: NodeJS.Timeout;
  #asked = 0;
  #received = 0;
  #hasEnded = false;

  /** @throws if the process may not start a thread */
  constructor(
    idleMillis: number,
    onlyBeside: boolean,
    private readonly events: SourceMapThreadEvents,
  ) {
    const { port1, port2 } = new MessageChannel();
    const workerData: SourceMapThreadData = { port: port2, answers: this.#answers, onlyBeside };
    this.#port = port1;
    this.#worker = new Worker(SOURCE_MAP_CODE, {
      eval: true,
      name: 'event-loop-source-maps',
      argv: [],
      // Neither the host's flags nor its environment: its preloads must not run in the thread.
      execArgv: [],
      env: {},
      stdout: true,
      stderr: true,
      trackUnmanagedFds: false,
      // A limit: mappings are kept as bytes, outside of the heap.
      resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 4, stackSizeMb: 1 },
      workerData,
      transferList: [port2],
    });
    this.#idleTimer = setTimeout(() => this.#onIdle(), idleMillis);
    this.#idleTimer.unref();
    this.#worker.on('error', (error) => events.onError(error));
    this.#worker.on('exit', () => this.#onExit());
    this.#worker.unref();
    this.#port.on('message', (answer: SourceMapAnswer) => this.#onAnswer(answer));
    this.#port.unref();
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  ask(request: SourceMapRequest): void {
    this.#asked++;
    this.#idleTimer.refresh();
    this.#port.postMessage(request);
  }

  /** Blocks until there is another answer. Returns false if there is none. */
  waitForAnswer(millis: number): boolean {
    return millis > 0 && wait(this.#answers, 0, this.#received, millis) !== 'timed-out';
  }

  /** Takes the answers that have arrived. */
  receive(): void {
    for (;;) {
      const next = receiveMessageOnPort(this.#port);
      if (next === undefined) return;
      this.#onAnswer(next.message as SourceMapAnswer);
    }
  }

  end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#idleTimer);
    this.#port.close();
    this.#worker.terminate().catch(() => {});
  }

  #onAnswer(answer: SourceMapAnswer): void {
    this.#received++;
    this.events.onAnswer(answer);
  }

  #onExit(): void {
    if (this.#hasEnded) return;
    this.receive();
    this.end();
    this.events.onFailure();
  }

  #onIdle(): void {
    if (this.#received === this.#asked) this.end();
    else this.#idleTimer.refresh();
  }
}
