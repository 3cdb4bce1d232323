/**
 * The main thread's part for its workers: starts the watchdog thread that they share as soon as one
 * of them asks. A worker whose own event loop does not turn could not ask by an inspector session.
 */
import { BroadcastChannel, type Worker } from 'node:worker_threads';
import type { WatchdogData } from '../../core/sample/protocol.ts';
import { ProcessWord } from '../../core/sample/shared-memory.ts';
import type { Guard } from '../../support/guard.ts';
import { WATCHDOG_CODE } from '../../worker-code.generated.ts';
import { KEY } from './main-thread.ts';
import { sharedWords, startSharedThread } from './start-shared-thread.ts';

export class WorkerRequests {
  #channel: BroadcastChannel | undefined;
  #thread: Worker | undefined;

  constructor(private readonly guard: Pick<Guard, 'run'>) {}

  start(): void {
    const words = sharedWords();
    const channel = new BroadcastChannel(KEY);
    channel.onmessage = (event) => {
      const { data } = event as { data: WatchdogData };
      // The worker asks once more, by a session.
      this.guard.run('cannot watch a worker thread', () => this.#passOn(words, data));
    };
    channel.unref();
    this.#channel = channel;
  }

  stop(): void {
    this.#channel?.close();
    this.#channel = undefined;
  }

  /** What comes by the channel is lost while the thread starts; a message to it is not. */
  #passOn(words: Int32Array, data: WatchdogData): void {
    this.#thread = startSharedThread(words, WATCHDOG_CODE, data.env) ?? this.#thread;
    this.#thread?.postMessage(data);
    Atomics.add(words, ProcessWord.wakeUps, 1);
    Atomics.notify(words, ProcessWord.wakeUps);
  }
}
