/**
 * The main thread's side of the thread that reads and decodes source maps. It starts when it is
 * asked, ends when nobody has asked for a while, and never keeps the process alive.
 */
import { clearTimeout, setTimeout } from 'node:timers';
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
} from 'node:worker_threads';
import { SOURCE_MAP_CODE } from '../worker-code.generated.ts';
import type { SourceMapAnswer, SourceMapRequest, SourceMapThreadData } from './thread-protocol.ts';

export interface SourceMapThreadEvents {
  onAnswer(answer: SourceMapAnswer): void;
  onError(error: unknown): void;
  onExit(): void;
  onIdle(): void;
}

export class SourceMapThread {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #answers = new Int32Array(new SharedArrayBuffer(4));
  readonly #idleTimer: NodeJS.Timeout;

  /** @throws if the process may not start a thread */
  constructor(
    idleMillis: number,
    onlyBeside: boolean,
    private readonly events: SourceMapThreadEvents,
  ) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const answers = this.#answers;
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
      workerData: { port: port2, answers, onlyBeside } satisfies SourceMapThreadData,
      transferList: [port2],
    });
    this.#idleTimer = setTimeout(() => events.onIdle(), idleMillis);
    this.#idleTimer.unref();
    this.#worker.on('error', (error) => events.onError(error));
    this.#worker.on('exit', () => events.onExit());
    this.#worker.unref();
    this.#port.on('message', (answer: SourceMapAnswer) => events.onAnswer(answer));
    this.#port.unref();
  }

  ask(request: SourceMapRequest): void {
    this.#idleTimer.refresh();
    this.#port.postMessage(request);
  }

  stayAlive(): void {
    this.#idleTimer.refresh();
  }

  /** How many answers there have been; see {@link waitForMoreThan}. */
  get answerCount(): number {
    return Atomics.load(this.#answers, 0);
  }

  /** Blocks the calling thread until there are more answers. Returns false if there are none. */
  waitForMoreThan(answerCount: number, millis: number): boolean {
    return Atomics.wait(this.#answers, 0, answerCount, millis) !== 'timed-out';
  }

  /** Takes the answers that have arrived. */
  receive(): void {
    for (;;) {
      const next = receiveMessageOnPort(this.#port);
      if (next === undefined) return;
      this.events.onAnswer(next.message as SourceMapAnswer);
    }
  }

  end(): void {
    clearTimeout(this.#idleTimer);
    this.#port.close();
    this.#worker.terminate().catch(() => {});
  }
}
