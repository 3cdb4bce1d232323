/** Has telemetry sent before the process ends. It does not decide when and how the process ends. */
import { EventEmitter } from 'node:events';
import { constants } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import { listen, unlisten } from '../support/process-listeners.ts';
import { SignalListener } from '../support/signal-listener.ts';
import { clearTimeout, now, setImmediate, setTimeout } from '../support/time.ts';

const SIGNAL = 'SIGTERM';
/** A process that a signal ends by default ends after this time, even if telemetry is not sent. */
const MAX_FLUSH_MILLIS = 5000;
/**
 * Process 1 of a container. Linux gives it no signal that it does not listen for: neither one that
 * it sends itself, nor one from outside.
 */
const INIT_PID = 1;
/** The exit code by which a shell tells that a signal ended a process. */
const EXIT_CODE = 128 + constants.signals[SIGNAL];

export interface Telemetry {
  /** Sends what there is. */
  flush(): Promise<unknown>;
  /** Sends what there is, and ends. */
  shutdown(): Promise<unknown>;
  /** The process ends by a signal now, without an `exit` event. */
  killed(): void;
}

/** @returns undoes it */
export function shutDownWithProcess(telemetry: Telemetry): () => void {
  const end = new ProcessEnd(telemetry);
  end.begin();
  return () => end.undo();
}

class ProcessEnd {
  readonly #telemetry: Telemetry;
  readonly #signal = new SignalListener(SIGNAL, (isHandled) => this.#onSignal(isHandled));
  /** Since when a flush is under way that a signal has begun; 0: none. */
  #flushingSince = 0;
  /**
   * The flush after a signal was not answered in time: the process does not wait for another one.
   */
  #isUnanswered = false;
  #isShutDown: Promise<unknown> | undefined;

  constructor(telemetry: Telemetry) {
    this.#telemetry = telemetry;
  }

  begin(): void {
    listen('beforeExit', this.#onBeforeExit);
    // Windows has no such signal: nothing can be sent before a process is ended there. Signals come
    // to the main thread only.
    if (process.platform !== 'win32' && isMainThread) this.#signal.add();
  }

  undo(): void {
    unlisten('beforeExit', this.#onBeforeExit);
    this.#signal.remove();
  }

  readonly #onBeforeExit = (): void => {
    unlisten('beforeExit', this.#onBeforeExit);
    // A signal that the process has sent itself may not have come yet, and this one turn brings it.
    setImmediate(() => {});
    if (!this.#isUnanswered) this.#shutdown();
  };

  #shutdown(): Promise<unknown> {
    this.#isShutDown ??= this.#telemetry.shutdown().catch(() => {});
    return this.#isShutDown;
  }

  #onSignal(isHandled: boolean): void {
    // Other listeners decide when the process ends, and may have requests to answer before.
    if (isHandled) this.#flush();
    else this.#endBySignal();
  }

  #flush(): void {
    if (this.#flushingSince > 0) return;
    this.#flushingSince = now();
    this.#telemetry
      .flush()
      .catch(() => {})
      .finally(() => {
        this.#isUnanswered = now() - this.#flushingSince > MAX_FLUSH_MILLIS;
        this.#flushingSince = 0;
      });
  }

  /** What the signal does by itself, once the telemetry is sent. */
  #endBySignal(): void {
    // The next signal ends the process at once.
    this.undo();
    const kill = () => {
      try {
        this.#telemetry.killed();
      } finally {
        // By default the process would have ended before anybody added a listener.
        EventEmitter.prototype.removeAllListeners.call(process, SIGNAL);
        if (process.pid === INIT_PID) process.exit(EXIT_CODE);
        process.kill(process.pid, SIGNAL);
      }
    };
    // Code that runs meanwhile must not change how the process ends.
    listen('exit', kill, true);
    const flushedFor = this.#flushingSince > 0 ? now() - this.#flushingSince : 0;
    let timer: NodeJS.Timeout | undefined;
    const maxWaitOver = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, Math.max(0, MAX_FLUSH_MILLIS - flushedFor));
    });
    Promise.race([this.#shutdown(), maxWaitOver]).finally(() => {
      clearTimeout(timer);
      unlisten('exit', kill);
      kill();
    });
  }
}
