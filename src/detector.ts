/** Puts the parts of detection together for one configuration, and turns them on and off as one. */
import type { AsyncHook } from 'node:async_hooks';
import { executionAsyncResource } from 'node:async_hooks';
import { isMainThread } from 'node:worker_threads';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import type { Block, OngoingPileUp } from './block.ts';
import { Exclusions } from './exclude/exclusions.ts';
import { canLeaveOutPromises, createCallbackTimer } from './hooks/async-hooks.ts';
import { ContextScopes } from './hooks/context-scopes.ts';
import { contextOf, resourceTypeOf } from './hooks/resource-classes.ts';
import { Heartbeat } from './lag/lag-sampler.ts';
import { Pulse } from './lag/pulse.ts';
import { GcMeter } from './loop/gc-meter.ts';
import { IterationLedger } from './loop/ledger.ts';
import { ongoingReply } from './ongoing/ongoing-facts.ts';
import type { OngoingReportOptions } from './ongoing/ongoing-reporter.ts';
import { exporterEnvironment } from './ongoing/otlp-environment.ts';
import type { OnceLogger } from './otel/diag-once.ts';
import { hrTimeToMillis } from './otel/hr-time.ts';
import { currentContextManager, spanStartTime } from './otel/sdk-internals.ts';
import type { Clock } from './support/clock.ts';
import { canCountIterations } from './support/clock.ts';
import type { AsyncHooksMode } from './types.ts';
import { type CaptureTimes, captureTimes } from './watchdog/capture-times.ts';
import { Capturer } from './watchdog/capturer.ts';
import { whyNoCapture } from './watchdog/inspector.ts';
import { Watchdog } from './watchdog/watchdog.ts';
import { EXPORTER_CODE, WATCHDOG_CODE } from './worker-code.generated.ts';

export interface DetectorOptions {
  thresholdMillis: number;
  lagIntervalMillis: number;
  asyncHooks: AsyncHooksMode | 'auto';
  captureStack: boolean;
  unfinishedAfterMillis: number;
  requireParentSpan: boolean;
}

export interface DetectorEvents {
  block(block: Block): void;
  lag(millis: number): void;
  /** Once per beat, for whatever needs a look now and then. */
  beat(): void;
}

/** For thresholds below, every callback is timed: the watchdog's timers count whole milliseconds. */
const MIN_RELAXED_THRESHOLD_MILLIS = 20;

/** Whether promises can be left out is a property of the Node.js that runs: asked once. */
let promisesCanBeLeftOut: boolean | undefined;

export class Detector {
  readonly gc = new GcMeter();
  readonly #options: DetectorOptions;
  readonly #ledger: IterationLedger;
  readonly #watchdog: Watchdog | undefined;
  readonly #capturer: Capturer;
  readonly #scopes: ContextScopes;
  readonly #heartbeat: Heartbeat;
  readonly #pulse: Pulse | undefined;
  readonly #exclusions: Exclusions;
  #mode: AsyncHooksMode;
  #hook: AsyncHook | undefined;
  #running = false;
  #finishedIteration = Number.NaN;
  /** Whether captures can be made is known, one way or the other. */
  #capturesKnown = false;
  #onCapturesKnown: (() => void)[] = [];

  constructor(
    options: DetectorOptions,
    private readonly clock: Clock,
    events: DetectorEvents,
    private readonly log: OnceLogger,
  ) {
    const { thresholdMillis, lagIntervalMillis } = options;
    this.#options = options;
    const canCapture = this.#canCapture();
    this.#mode = this.#resolveMode(canCapture);
    const times = captureTimes(thresholdMillis, lagIntervalMillis, this.#mode !== 'off');
    if (canCapture) this.#watchdog = this.#createWatchdog(times);
    const marks = this.#watchdog?.memory.marks;
    this.#exclusions = new Exclusions(
      thresholdMillis,
      () => (this.#watchdog?.watches ? marks : undefined),
      clock,
    );
    this.#ledger = new IterationLedger(
      thresholdMillis,
      clock,
      {
        context: () => contextOf(executionAsyncResource()),
        resourceType: () => resourceTypeOf(executionAsyncResource()),
        spanStart: (span) => {
          const start = spanStartTime(span);
          return start === undefined ? Number.NaN : hrTimeToMillis(start);
        },
      },
      (block) => {
        if (!this.#exclusions.isExcluded(block)) events.block(block);
      },
      marks,
    );
    this.#capturer = new Capturer(clock, {
      isRunning: (busyPeriodStart) => this.#ledger.isRunning(busyPeriodStart),
      resourceType: () => resourceTypeOf(executionAsyncResource()),
      add: (sample) => this.#ledger.add(sample),
    });
    this.#scopes = new ContextScopes(this.#ledger, clock, this.#onError);
    if (this.#watchdog !== undefined && times.pulseMillis < lagIntervalMillis) {
      this.#pulse = new Pulse(times.pulseMillis);
    }
    const hooked = this.#mode !== 'off';
    this.#heartbeat = new Heartbeat(this.#ledger, clock, {
      intervalMillis: lagIntervalMillis,
      thresholdMillis,
      hooked,
      // With a pulse, something runs all the time.
      canRest: hooked && this.#pulse === undefined,
      record: events.lag,
      upkeep: () => {
        clock.syncEpoch();
        this.watchContextManager();
        this.#watchdog?.beat(clock.now());
        this.#exclusions.sample();
        events.beat();
      },
      rest: () => this.#watchdog?.idle(),
      wake: (runsSince) => {
        this.#watchdog?.wakeUp(clock.now());
        this.#exclusions.sample(runsSince);
      },
      onError: this.#onError,
    });
    this.#hook = this.#createHook();
  }

  /** Which hooks are in force. */
  get mode(): AsyncHooksMode {
    return this.#mode;
  }

  start(): void {
    this.#guard(() => this.#ledger.reset());
    this.watchContextManager();
    this.#guard(() => this.gc.start());
    // Not in the caller's context, which the timer would keep alive.
    this.#guard(() =>
      context.with(ROOT_CONTEXT, () => {
        this.#heartbeat.start();
        this.#pulse?.start();
      }),
    );
    this.#guard(() => this.#watchdog?.start());
    this.#exclusions.start();
    this.#guard(() => this.#hook?.enable());
    this.#running = true;
    if (this.#watchdog === undefined) this.#nowCapturesAreKnown();
  }

  stop(): void {
    this.#running = false;
    this.#nowCapturesAreKnown();
    this.#guard(() => this.#watchdog?.stop());
    this.#exclusions.stop();
    this.#guard(() => this.#pulse?.stop());
    this.#guard(() => this.#hook?.disable());
    this.#guard(() => this.#heartbeat.stop());
    this.#guard(() => this.#scopes.release());
    this.#guard(() => this.gc.stop());
    this.#guard(() => this.#ledger.reset());
  }

  /** Captures can be made from now on, or cannot be made at all. Keeps no process alive. */
  ready(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#capturesKnown) resolve();
      else this.#onCapturesKnown.push(resolve);
    });
  }

  /** The pile-up that is under way, where it has reached the threshold. */
  ongoingPileUp(): OngoingPileUp | undefined {
    return this.#ledger.ongoingPileUp();
  }

  /** Milliseconds since the next sample of the lag was due; 0 where it is not yet. */
  overdue(): number {
    return this.#heartbeat.overdue();
  }

  /** The context manager may be set after us (NodeSDK does), and may be replaced at any time. */
  watchContextManager(): void {
    this.#guard(() => {
      const manager = currentContextManager();
      if (manager !== undefined) this.#scopes.watch(manager);
    });
  }

  /**
   * The loop has run out of work, or the process exits: reports what no further callback would close. Once for an iteration: between
   * the last one and the end of the process Node.js ends threads and the like, which is nobody's block.
   */
  finish(): void {
    if (this.mode === 'off') return;
    this.#guard(() => {
      const iteration = this.clock.loopCount();
      if (iteration === this.#finishedIteration) return;
      this.#finishedIteration = iteration;
      this.#ledger.finish();
    });
  }

  /** Blocks inside `work` are the package's own. */
  asOwnWork(work: () => void): void {
    this.#ledger.beginOwnWork();
    try {
      work();
    } finally {
      this.#ledger.endOwnWork();
    }
  }

  readonly #onError = (error: unknown): void => {
    this.log.log('error', 'internal error; detection goes on', error);
  };

  #canCapture(): boolean {
    if (!this.#options.captureStack) return false;
    const reason = whyNoCapture();
    // In a worker thread that is as documented.
    if (reason !== undefined) this.log.log(isMainThread ? 'warn' : 'info', `captureStack is off: ${reason}`);
    return reason === undefined;
  }

  #createWatchdog(times: CaptureTimes): Watchdog {
    const { thresholdMillis, unfinishedAfterMillis } = this.#options;
    return new Watchdog(
      { ...times, unfinishedAfterMillis },
      {
        threadSetup: () => ({
          code: WATCHDOG_CODE,
          env: exporterEnvironment(process.env),
          ongoing: {
            exporterCode: EXPORTER_CODE,
            resolveFrom: [process.argv[1], `${process.cwd()}/`].filter((path) => path !== undefined),
          } satisfies OngoingReportOptions,
        }),
        capture: (busyPeriodStart, requestedAt) => {
          const sample = this.#capturer.capture(busyPeriodStart, requestedAt);
          if (sample === undefined) return undefined;
          const { requireParentSpan } = this.#options;
          return ongoingReply(sample, this.#ledger.ongoing(), this.clock, requireParentSpan);
        },
        // Only where a promise reaction is not timed in any case, and where the watchdog has time enough to notice.
        watching: (watches) => {
          this.#ledger.relax(
            watches && this.#mode === 'callbacks' && thresholdMillis >= MIN_RELAXED_THRESHOLD_MILLIS,
          );
          if (watches) this.#nowCapturesAreKnown();
        },
        lost: () => this.#onCaptureLost(),
      },
      this.log,
    );
  }

  /** What captures told has to come from promise hooks now. */
  #onCaptureLost(): void {
    this.#nowCapturesAreKnown();
    this.#ledger.relax(false);
    if (this.#options.asyncHooks !== 'auto' || this.#mode !== 'callbacks') return;
    this.#hook?.disable();
    this.#mode = 'promises';
    this.#hook = this.#createHook();
    if (this.#running) this.#hook?.enable();
  }

  #nowCapturesAreKnown(): void {
    this.#capturesKnown = true;
    for (const resolve of this.#onCapturesKnown.splice(0)) resolve();
  }

  #createHook(): AsyncHook | undefined {
    return this.#mode === 'off'
      ? undefined
      : createCallbackTimer(this.#ledger, this.#heartbeat, this.#mode, this.#onError);
  }

  #resolveMode(canCapture: boolean): AsyncHooksMode {
    const wanted = this.#options.asyncHooks;
    if (wanted === 'off') return 'off';
    if (!canCountIterations) {
      this.log.log(
        'warn',
        'this Node.js cannot count loop iterations (20.18 and 22.8 can): asyncHooks is off',
      );
      return 'off';
    }
    if (wanted === 'promises' || (wanted === 'auto' && !canCapture)) return 'promises';
    promisesCanBeLeftOut ??= canLeaveOutPromises();
    if (promisesCanBeLeftOut) return 'callbacks';
    if (wanted === 'callbacks') {
      this.log.log(
        'warn',
        "asyncHooks 'callbacks' needs Node.js 24.14 or 25.6: promise hooks cannot be left out",
      );
    }
    return 'promises';
  }

  #guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.log.log('error', 'cannot watch everything; carrying on with the rest', error);
    }
  }
}
