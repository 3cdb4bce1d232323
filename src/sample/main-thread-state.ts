/**
 * Whether the main thread waits for events, without waking it up: on Linux, the system call that it
 * is in, with the file that it waits for. Elsewhere, and of worker threads, nothing is known.
 */
import { attempt } from '../support/guard.ts';
import { type OpenFile, openFile } from '../support/schedstat.ts';

/** The thread's id is that of the process. */
const FILE = () => `/proc/self/task/${process.pid}/syscall`;
const MAX_LENGTH = 128;

export class MainThreadState {
  #file: OpenFile | undefined;
  /** Number and first argument of the call in which the loop waits. */
  #waiting: string | undefined;
  #latest: string | undefined;

  /** Never closed: Node.js does that when the thread ends. */
  constructor(threadId: number, open: () => OpenFile = () => openFile(FILE(), MAX_LENGTH)) {
    if (threadId === 0) this.#file = attempt(open);
  }

  /** Whether it surely waits for events now. Some 3 µs. */
  isWaiting(): boolean {
    const text = attempt(() => this.#file?.read()) ?? '';
    // `281 0xe 0x7ffd… …`; `running` where it is in no system call.
    const end = text.indexOf(' ', text.indexOf(' ') + 1);
    this.#latest = text.startsWith('running') || end <= 0 ? undefined : text.slice(0, end);
    return this.#latest !== undefined && this.#latest === this.#waiting;
  }

  /** At the latest {@link isWaiting}, it waited for events, as it has answered itself. */
  learn(): void {
    this.#waiting = this.#latest ?? this.#waiting;
  }
}
