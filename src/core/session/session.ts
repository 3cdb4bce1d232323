/**
 * Everything that is alive while the instrumentation is enabled. Detection finds blocks, sampling
 * takes stacks of what runs, reporting gives both to everything that is emitted. They are made in
 * this order, and started in the opposite one: whatever finds something has somewhere to send it.
 */
import type { ResolvedConfig } from '../../config.ts';
import type { OnceLogger } from '../../otel/diag-once.ts';
import { inRootContext } from '../../otel/root-context.ts';
import type { Guard } from '../../support/guard.ts';
import type { EventLoopHealth } from '../../types.ts';
import { captureTimes } from '../sample/capture-times.ts';
import { createCommon, type Part, type SessionOptions, type SessionTargets } from './common.ts';
import { createDetection, type Detection } from './detection.ts';
import { createReporting } from './reporting.ts';
import { createSampling } from './sampling.ts';

/** A session lives longer than the code that enables it, and keeps nothing of that alive. */
export const startSession = (...options: ConstructorParameters<typeof Session>): Session =>
  inRootContext(() => {
    const session = new Session(...options);
    session.start();
    return session;
  });

export class Session {
  readonly #guard: Guard;
  readonly #detection: Detection;
  readonly #sampling: ReturnType<typeof createSampling>;
  readonly #reporting: ReturnType<typeof createReporting>;
  readonly #parts: readonly Part[];

  constructor(
    config: ResolvedConfig,
    targets: SessionTargets,
    private readonly log: OnceLogger,
    options: SessionOptions = {},
  ) {
    const common = createCommon(config, targets, log, options);
    const { thresholdMillis, lagIntervalMillis } = config;
    const times = captureTimes(thresholdMillis, lagIntervalMillis);
    this.#guard = common.guard;
    this.#detection = createDetection(common, times);
    this.#sampling = createSampling(common, times, this.#detection);
    this.#reporting = createReporting(common, this.#detection);
    this.#parts = [...this.#reporting.parts, ...this.#sampling.parts, ...this.#detection.parts];
  }

  start(): void {
    for (const part of this.#parts) {
      this.#guard.run('cannot start every part; the others are started', () => part.start?.());
    }
    this.log.catchUp();
  }

  stop(): void {
    for (const part of [...this.#parts].reverse()) {
      this.#guard.run('cannot stop every part; the others are stopped', () => part.stop?.());
    }
    this.log.catchUp();
  }

  /** Resolves when stack samples can be taken, or never can. It keeps no process alive. */
  ready(): Promise<void> {
    return this.#sampling.ready;
  }

  /** Reports the blocks that have ended. Resolves when all of them are reported. */
  report(): Promise<void> {
    return this.#reporting.report();
  }

  /**
   * Reports what no further callback would close: the loop has run out of work, the process exits,
   * or the SDK shuts down. Never throws.
   */
  settle(): void {
    this.#reporting.settle();
  }

  health(windowMillis: number): EventLoopHealth | undefined {
    return this.#detection.health(windowMillis);
  }

  /** The process ends by a signal, without an `exit` event. */
  endBySignal(): void {
    this.#reporting.endBySignal();
  }

  /** The context manager and the SDK may be set after us, and replaced at any time. */
  watchSdk(): void {
    this.#detection.watchContextManager();
    this.#reporting.watchProvider();
  }
}
