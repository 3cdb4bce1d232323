/**
 * The main thread's side of the health server: starts its thread, again if that has ended, and
 * writes down on every beat of the lag timer that the event loop turns. Never throws into the host.
 */
import type { Worker } from 'node:worker_threads';
import { originOfClock } from '../../core/sample/clock-origin.ts';
import { isInspected } from '../../core/sample/inspector.ts';
import type { SharedMemory } from '../../core/sample/shared-memory.ts';
import { stoppedSoFar } from '../../core/sample/suspensions.ts';
import type { OnceLogger } from '../../otel/diag-once.ts';
import { Guard } from '../../support/guard.ts';
import { Restarts, startThread } from '../../support/own-threads.ts';
import type { Schedstat } from '../../support/schedstat.ts';
import { now } from '../../support/time.ts';
import { HEALTH_SERVER_CODE } from '../../worker-code.generated.ts';
import {
  Beat,
  beatIn,
  type HealthServerData,
  type HealthServerFailure,
  processCpuMillis,
} from './protocol.ts';

export class HealthServer {
  readonly #guard: Guard;
  readonly #beat: ReturnType<typeof beatIn>;
  readonly #restarts = new Restarts();
  #worker: Worker | undefined;
  #isStarted = false;
  #startAt = Number.POSITIVE_INFINITY;

  constructor(
    private readonly options: Omit<HealthServerData, 'clockOrigin'>,
    private readonly watchdog: SharedMemory | undefined,
    /** What the kernel counts of this thread, as of the latest beat. */
    private readonly times: Pick<Schedstat, 'ran' | 'waited'>,
    private readonly log: OnceLogger,
  ) {
    this.#guard = new Guard(log);
    this.#beat = beatIn(options.memory.beat);
  }

  /** At once: it is to answer while the application loads, too. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.beat(now());
    this.#start();
  }

  stop(): void {
    this.#isStarted = false;
    const worker = this.#worker;
    this.#worker = undefined;
    this.#startAt = Number.POSITIVE_INFINITY;
    worker?.terminate().catch(() => {});
  }

  /** The event loop turns: on every beat of the lag timer. `due`: when the next one is. */
  beat(due: number): void {
    const { watchdog } = this;
    const { values } = this.#beat;
    const { ran, waited } = this.times;
    // Nothing has been read before the first beat: then it counts from the start of the process.
    const isRead = !Number.isNaN(ran);
    const isKnown = ran > 0;
    values[Beat.ran] = isRead && !isKnown ? processCpuMillis() : ran || 0;
    values[Beat.waitedForCpu] = isRead ? waited : 0;
    const time = now();
    values[Beat.stopped] = watchdog === undefined ? 0 : stoppedSoFar(watchdog, time);
    values[Beat.inspected] = isInspected() ? 1 : 0;
    values[Beat.due] = due;
    this.#beat.publish();
    if (time >= this.#startAt) this.#start();
  }

  #start(): void {
    this.#startAt = Number.POSITIVE_INFINITY;
    try {
      const workerData: HealthServerData = { ...this.options, clockOrigin: originOfClock() };
      const worker = startThread(HEALTH_SERVER_CODE, {
        name: 'event-loop-health',
        env: {},
        workerData,
      });
      this.#worker = worker;
      worker.on('error', (error) =>
        this.log.log('warn', 'the thread of healthServer failed', error),
      );
      worker.on('exit', () => this.#guarded(() => this.#onExit(worker)));
      worker.on('message', (failure: HealthServerFailure) =>
        this.#guarded(() => this.#onFailure(worker, failure)),
      );
      worker.unref();
    } catch (error) {
      this.#isOff(error instanceof Error ? error.message : String(error));
    }
  }

  #onFailure(worker: Worker, { isOff, reason }: HealthServerFailure): void {
    if (worker !== this.#worker) return;
    if (isOff) {
      this.stop();
      this.#isStarted = true; // and off for good
      this.#isOff(reason);
    } else this.log.log('warn', `healthServer tries again every second: ${reason}`);
  }

  #onExit(worker: Worker): void {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    const time = now();
    this.#startAt = time + this.#restarts.afterEnd(time).delayMillis;
  }

  #isOff(reason: string): void {
    this.log.log('warn', `healthServer is off: ${reason}`);
  }

  /** For what Node.js calls: an exception would end the process. */
  #guarded(action: () => void): void {
    this.#guard.run('internal error; the health server continues', action);
  }
}
