/** Has telemetry sent before the process ends, without a say in when and how it ends. */
const SIGNAL = 'SIGTERM';
/** A process that was told to end does so, whether or not the telemetry is gone by then. */
const MAX_SHUTDOWN_MILLIS = 5000;

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
  const onBeforeExit = () => {
    undo();
    telemetry.shutdown().catch(() => {});
  };
  const onSignal = () => {
    // Whoever else listens ends the process in a way of its own, and may have requests to answer before.
    if (process.listenerCount(SIGNAL) > 1) {
      telemetry.flush().catch(() => {});
      return;
    }
    undo();
    let patience: NodeJS.Timeout | undefined;
    const outOfPatience = new Promise<void>((resolve) => {
      patience = setTimeout(resolve, MAX_SHUTDOWN_MILLIS);
    });
    Promise.race([telemetry.shutdown(), outOfPatience])
      .catch(() => {})
      .finally(() => {
        clearTimeout(patience);
        try {
          telemetry.killed();
        } finally {
          process.kill(process.pid, SIGNAL);
        }
      });
  };
  const undo = () => {
    process.off('beforeExit', onBeforeExit);
    process.off(SIGNAL, onSignal);
  };
  process.on('beforeExit', onBeforeExit);
  process.on(SIGNAL, onSignal);
  return undo;
}
