/** The main thread's side of the watchdog: starts and stops its thread, and answers its requests. */

import { randomUUID } from 'node:crypto';
import { channel as diagnosticsChannel } from 'node:diagnostics_channel';
import { performance } from 'node:perf_hooks';
import { isMainThread, Worker } from 'node:worker_threads';
import { isInspected } from '../exclude/debugger-pause.ts';
import { exporterEnvironment } from '../ongoing/otlp-environment.ts';
import type { OnceLogger } from '../otel/diag-once.ts';
import { REPORTER_CODE, WATCHDOG_CODE } from '../worker-code.generated.ts';
import type { CaptureTimes } from './capture-times.ts';
import { originOfClock } from './clock-origin.ts';
import type { CaptureReply, WatchdogData, WatchdogMessage } from './protocol.ts';
import { createSharedMemory, Flag, Mark, type SharedMemory } from './shared-memory.ts';
import { CAPTURE_URL, prepareCapture } from './stack.ts';

/** A thread that ends by itself is started again this often, and not at once. */
const MAX_RESTARTS = 3;
const RESTART_DELAY_MILLIS = 1000;
/** How long a process that exits waits for a capture under way: the watchdog looks every 10 ms at most. */
const EXIT_WAIT_MILLIS = 100;

export interface WatchdogOptions extends CaptureTimes {
  readonly unfinishedAfterMillis: number;
}

export interface WatchdogEvents {
  /** Inside whatever runs: looks at it. `undefined` where it is another stretch by now, or none. */
  capture(stretch: number, requestedAt: number): CaptureReply | undefined;
  /** It watches; or it does not, for now. */
  watching(watches: boolean): void;
  /** Captures cannot be made, or not any more. */
  lost(): void;
}

/** Why there can be no captures here, or undefined where there can. */
export function whyNoCapture(): string | undefined {
  if (!isMainThread) return 'Node.js can capture the main thread only, and this is a worker thread';
  if (!process.features.inspector) return 'this Node.js has no inspector';
  // Connecting nevertheless ends the process, in C++ (seen on Node.js 20 to 26).
  const { permission } = process as { permission?: { has(scope: string): boolean } };
  if (permission?.has('inspector') === false) return 'the permission model does not allow the inspector';
  return undefined;
}

/** V8 does what other threads have asked for, here to end the session, when a function is called or a loop turns. */
function handleInterrupts(): number {
  const noop = (n: number) => n + 1;
  let turns = 0;
  while (turns < 100) turns = noop(turns);
  return turns;
}

export class Watchdog {
  readonly memory: SharedMemory = createSharedMemory();
  readonly #channelName = `opentelemetry-instrumentation-event-loop.${randomUUID()}`;
  #worker: Worker | undefined;
  #running = false;
  #watches = false;
  #restarts = 0;
  #startAt = 0;

  constructor(
    private readonly options: WatchdogOptions,
    private readonly events: WatchdogEvents,
    private readonly log: OnceLogger,
  ) {}

  /** Whether its thread has begun to watch, and still does: what it has set down about standstills says nothing otherwise. */
  get watches(): boolean {
    return this.#watches;
  }

  /** Nothing but preparation: the thread is started by the first {@link beat}, so that a process which ends at once never has one. */
  start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#restarts = 0;
    this.#startAt = 0;
    Atomics.store(this.memory.flags, Flag.closing, 0);
    Atomics.store(this.memory.flags, Flag.resting, 0);
    diagnosticsChannel(this.#channelName).subscribe(this.#onRequest);
    process.on('exit', this.#onExit);
  }

  stop(): void {
    if (!this.#running) return;
    this.#running = false;
    process.off('exit', this.#onExit);
    diagnosticsChannel(this.#channelName).unsubscribe(this.#onRequest);
    Atomics.store(this.memory.flags, Flag.closing, 1);
    Atomics.notify(this.memory.flags, Flag.closing);
    Atomics.notify(this.memory.flags, Flag.resting);
    const worker = this.#worker;
    this.#worker = undefined;
    this.#watches = false;
    this.events.watching(false);
    // It ends by itself, too, but only when it wakes up.
    worker?.terminate().catch(() => {});
  }

  /** To be called now and then: starts the thread where there is none. `now`: a time of `performance.now()`. */
  beat(now: number): void {
    if (this.#running && this.#worker === undefined && now >= this.#startAt) this.#startThread();
    this.memory.marks[Mark.inspected] = isInspected() ? 1 : 0;
  }

  /** The loop is expected to wait: until {@link wakeUp} nothing has to be watched. */
  rest(): void {
    Atomics.store(this.memory.flags, Flag.resting, 1);
  }

  /** Something runs: the thread is woken up. */
  wakeUp(now: number): void {
    if (this.#watches) this.memory.marks[Mark.wakeUp] = now;
    Atomics.store(this.memory.flags, Flag.resting, 0);
    Atomics.notify(this.memory.flags, Flag.resting);
  }

  #startThread(): void {
    // Whatever goes wrong here would go wrong the next time.
    this.#startAt = Number.POSITIVE_INFINITY;
    try {
      prepareCapture();
      const clockOrigin = originOfClock();
      const worker = new Worker(WATCHDOG_CODE, {
        eval: true,
        name: 'event-loop-watchdog',
        argv: [],
        // Neither the host's flags nor its NODE_OPTIONS: a preload of the host has nothing to do in there.
        execArgv: [],
        env: exporterEnvironment(process.env),
        stdout: true,
        stderr: true,
        trackUnmanagedFds: false,
        resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 },
        workerData: {
          ...this.options,
          memory: this.memory,
          clockOrigin,
          channel: this.#channelName,
          captureUrl: CAPTURE_URL,
          reporterCode: REPORTER_CODE,
          resolveFrom: [process.argv[1], `${process.cwd()}/`].filter((path) => path !== undefined),
        } satisfies WatchdogData,
      });
      this.#worker = worker;
      worker.on('error', (error) => this.log.log('warn', 'the watchdog thread failed', error));
      worker.on('exit', () => this.#guard(() => this.#onThreadExit(worker)));
      worker.on('message', (message: WatchdogMessage) =>
        this.#guard(() => {
          if (worker !== this.#worker) return;
          this.#watches = true;
          if (message.type === 'ready') this.events.watching(true);
          else this.#lose(message.reason);
        }),
      );
      worker.unref();
    } catch (error) {
      this.#lose(error instanceof Error ? error.message : String(error));
    }
  }

  #onThreadExit(worker: Worker): void {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    this.#watches = false;
    const { marks, flags } = this.memory;
    marks[Mark.busyStretch] = 0;
    marks[Mark.wakeUp] = 0;
    Atomics.store(flags, Flag.connected, 0);
    this.events.watching(false);
    if (this.#restarts === MAX_RESTARTS) {
      this.#lose(`its watchdog thread has ended ${MAX_RESTARTS + 1} times`);
      return;
    }
    this.#restarts++;
    this.#startAt = performance.now() + RESTART_DELAY_MILLIS * this.#restarts;
  }

  /** For what Node.js calls: there is nobody else to catch it. */
  #guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.log.log('error', 'internal error; the watchdog goes on', error);
    }
  }

  #lose(reason: string): void {
    this.log.log('warn', `captureStack is off: ${reason}`);
    this.events.lost();
  }

  // Runs inside whatever blocks. A throw would end the process: the channel turns it into an uncaught exception.
  readonly #onRequest = (message: unknown): void => {
    try {
      const reply = this.events.capture(
        this.memory.marks[Mark.captureStretch] as number,
        this.memory.marks[Mark.captureRequestedAt] as number,
      );
      if (reply !== undefined) (message as { reply?: string }).reply = JSON.stringify(reply);
    } catch (error) {
      this.log.log('error', 'cannot capture what runs', error);
    }
  };

  /** With a session open, Node.js would print "Waiting for the debugger to disconnect" and wait for it. */
  readonly #onExit = (): void => {
    try {
      const { flags } = this.memory;
      Atomics.store(flags, Flag.closing, 1);
      Atomics.notify(flags, Flag.closing);
      if (Atomics.wait(flags, Flag.connected, 1, EXIT_WAIT_MILLIS) !== 'not-equal') handleInterrupts();
    } catch (error) {
      this.log.log('error', 'cannot close the watchdog', error);
    }
  };
}
