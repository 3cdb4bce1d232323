/** Has telemetry sent before the process ends. It does not decide when and how the process ends. */
import { EventEmitter } from 'node:events';
import { constants } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import { attempt } from '../../support/guard.ts';
import { doAtLoopEnd, undoAtLoopEnd } from '../../support/loop-end.ts';
import { startThread } from '../../support/own-threads.ts';
import { listen, unlisten } from '../../support/process-listeners.ts';
import { SignalListener } from '../../support/signal-listener.ts';
import { clearInterval, eventLoopUtilization, now, setInterval } from '../../support/time.ts';

/** Those that end a process from a supervisor or a terminal. */
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/**
 * A process that a signal ends by default ends when it has waited for this long for telemetry to be
 * sent: PM2 kills a process after 1.6 s. Time without a CPU is no wait.
 */
const MAX_WAIT_MILLIS = 1000;
/** It ends after this time in any case, also inside a block. */
const MAX_FLUSH_MILLIS = 5000;
const CHECK_MILLIS = 50;
/**
 * Process 1 of a container. Linux gives it no signal that it does not listen for: neither one that
 * it sends itself, nor one from outside.
 */
const INIT_PID = 1;
type Signal = (typeof SIGNALS)[number];

export class ProcessEnd {
  readonly #signals = SIGNALS.map(
    (signal) => new SignalListener(signal, (isHandled) => this.#onSignal(signal, isHandled)),
  );
  /** Since when a flush is under way; 0: none. */
  #flushingSince = 0;
  /** The latest flush was not answered in time: the process does not wait for another one. */
  #isUnanswered = false;
  #isUndone = false;

  constructor(
    private readonly telemetry: {
      flush(): Promise<unknown>;
      /** Sends what there is, and ends. */
      shutdown(): Promise<unknown>;
      /** The process ends by a signal now, without an `exit` event. */
      killed(): void;
    },
  ) {}

  /**
   * @param ready stack samples can be taken. Until then a signal ends the process at once, as
   *   without this package: while the application is loaded, no sample could let go of the signals
   */
  begin(ready: Promise<void>): void {
    doAtLoopEnd(this.#onLoopEnd);
    // Windows has no such signal: nothing can be sent before a process is ended there. Signals come
    // to the main thread only.
    if (process.platform === 'win32' || !isMainThread) return;
    ready.then(() => {
      for (const listener of this.#isUndone ? [] : this.#signals) {
        // A terminal does not end process 1.
        if (listener.signal === 'SIGTERM' || process.pid !== INIT_PID) listener.add();
      }
    });
  }

  undo(): void {
    this.#isUndone = true;
    undoAtLoopEnd(this.#onLoopEnd);
    for (const listener of this.#signals) listener.remove();
  }

  readonly #onLoopEnd = (): Promise<unknown> | undefined =>
    this.#isUnanswered ? undefined : this.#flush();

  #onSignal(signal: Signal, isHandled: boolean): void {
    // Other listeners decide when the process ends, and may have requests to answer before.
    if (!isHandled) this.#endBySignal(signal);
    else if (this.#flushingSince === 0) this.#flush();
  }

  #flush(): Promise<unknown> {
    const since = now();
    this.#flushingSince ||= since;
    return this.telemetry
      .flush()
      .catch(() => {})
      .finally(() => {
        this.#isUnanswered = now() - since > MAX_FLUSH_MILLIS;
        this.#flushingSince = 0;
      });
  }

  /** What the signal does by itself, once the telemetry is sent. */
  #endBySignal(signal: Signal): void {
    // The next signal ends the process at once.
    this.undo();
    const kill = () => {
      try {
        this.telemetry.killed();
      } finally {
        // By default the process would have ended before anybody added a listener.
        EventEmitter.prototype.removeAllListeners.call(process, signal);
        // As a shell tells that a signal ended a process.
        if (process.pid === INIT_PID) process.exit(128 + constants.signals[signal]);
        process.kill(process.pid, signal);
      }
    };
    // Code that runs meanwhile must not change how the process ends.
    listen('exit', kill, true);
    const since = this.#flushingSince > 0 ? this.#flushingSince : now();
    attempt(() => killFromThread(signal));
    const { idle } = eventLoopUtilization();
    let timer: NodeJS.Timeout | undefined;
    const isLate = new Promise<void>((resolve) => {
      timer = setInterval(() => {
        const waited = eventLoopUtilization().idle - idle;
        if (waited >= MAX_WAIT_MILLIS || now() - since >= MAX_FLUSH_MILLIS) resolve();
      }, CHECK_MILLIS);
    });
    Promise.race([this.telemetry.shutdown().catch(() => {}), isLate]).finally(() => {
      clearInterval(timer);
      unlisten('exit', kill);
      kill();
    });
  }
}

/** An event loop that does not turn meanwhile keeps the process no longer than others. */
function killFromThread(signal: Signal): void {
  const code = `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${MAX_FLUSH_MILLIS});
    process.kill(process.pid, '${signal}');`;
  const thread = startThread(code, { env: {} });
  thread.on('error', () => {});
  thread.unref();
}
