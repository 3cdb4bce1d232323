/**
 * Everything that is alive while the instrumentation is enabled: an ordered list of parts, started
 * in this order and stopped in the opposite one. Data flows one way: hooks → ledger → exclusions →
 * report; the watchdog thread sends stack samples to the ledger.
 */
import { executionAsyncId } from 'node:async_hooks';
import { realpathSync } from 'node:fs';
import { setImmediate } from 'node:timers';
import { isMainThread } from 'node:worker_threads';
import { context, ROOT_CONTEXT, type Tracer, type TracerProvider } from '@opentelemetry/api';
import type { Block, StackSample } from './block.ts';
import type { ResolvedConfig } from './config.ts';
import { attributionIn } from './console/attribution.ts';
import { blockLine, PLAIN } from './console/block-line.ts';
import { ConsoleReporter } from './console/console-reporter.ts';
import { CpuThrottling } from './detect/exclude/cpu-throttling.ts';
import { Exclusions } from './detect/exclude/exclusions.ts';
import { RunDelay } from './detect/exclude/run-delay.ts';
import { Suspensions } from './detect/exclude/suspensions.ts';
import { GcMeter, reportsGc } from './detect/gc-meter.ts';
import { AsyncHooks } from './detect/hooks/async-hooks.ts';
import { ContextScopes } from './detect/hooks/context-scopes.ts';
import { resolveHooksMode } from './detect/hooks/hooks-mode.ts';
import { PoolWaits } from './detect/hooks/pool-waits.ts';
import {
  contextOf,
  currentResource,
  resourceTypeOf,
  takeResourceType,
} from './detect/hooks/resource-classes.ts';
import { Tick } from './detect/hooks/tick.ts';
import { createHealthSlots, Health } from './detect/lag/health.ts';
import { LagSampler } from './detect/lag/lag-sampler.ts';
import { Pulse } from './detect/lag/pulse.ts';
import { Ledger } from './detect/ledger.ts';
import type { Surroundings } from './detect/surroundings.ts';
import { createBeatMemory } from './health-server/beat-memory.ts';
import { HealthServer } from './health-server/health-server.ts';
import { isLauncher } from './health-server/launcher.ts';
import { HtmlReport } from './html-report/html-report.ts';
import { createOriginOf, type OriginOf, type OriginOptions } from './name/in-app.ts';
import { LATE_MILLIS } from './name/weights.ts';
import { callStack, emptyCallStack, takeNativeCall } from './native/call-stack.ts';
import { LongCalls } from './native/long-calls.ts';
import { NativeCalls } from './native/native-calls.ts';
import { ongoingReply, type UnnamedFacts } from './ongoing/ongoing-facts.ts';
import type { OngoingReportOptions } from './ongoing/ongoing-reporter.ts';
import { exporterEnvironment } from './ongoing/otlp-environment.ts';
import type { OnceLogger } from './otel/diag-once.ts';
import { hrTimeToMillis } from './otel/hr-time.ts';
import type { Logger } from './otel/logger.ts';
import {
  currentContextManager,
  localParentOf,
  spanEndTime,
  spanStartTime,
} from './otel/sdk-internals.ts';
import { SdkShutdown } from './otel/sdk-shutdown.ts';
import { EntryOperation } from './profile/entry-operation.ts';
import { LoopProfiler } from './profile/loop-profiler.ts';
import { publishBlock } from './report/block-channel.ts';
import { BlockReporter } from './report/block-reporter.ts';
import { CodeDescriber } from './report/code-describer.ts';
import type { Instruments } from './report/instruments.ts';
import { ProfileFiles } from './report/profile-files.ts';
import { type CaptureTimes, captureTimes } from './sample/capture-times.ts';
import { Capturer } from './sample/capturer.ts';
import { whyNoCapture } from './sample/inspector.ts';
import type { CaptureReply, ProfileOptions } from './sample/protocol.ts';
import type { SharedMemory } from './sample/shared-memory.ts';
import { SharedText } from './sample/shared-records.ts';
import { captureStack } from './sample/stack.ts';
import { Watchdog } from './sample/watchdog.ts';
import { WatchdogThread } from './sample/watchdog-thread.ts';
import { hasLoader } from './source-maps/loader-maps.ts';
import type { CodePosition, SourcePositionList } from './source-maps/position.ts';
import { lookUpWithoutMaps, SourcePositions } from './source-maps/source-positions.ts';
import { BlockFeed } from './stalls/block-feed.ts';
import { IDLE_ITERATIONS } from './stalls/queue.ts';
import { stallsOfThread } from './stalls/stalls.ts';
import { canCountIterations, SystemClock } from './support/clock.ts';
import { attempt, Guard } from './support/guard.ts';
import { Latch } from './support/latch.ts';
import { packageOrigins } from './support/package-origins.ts';
import { THIS_THREAD } from './support/this-thread.ts';
import type { EventLoopHealth, LoopProfile } from './types.ts';
import { EXPORTER_CODE, WATCHDOG_CODE } from './worker-code.generated.ts';
import { SharedWatchdogThread } from './workers/shared-watchdog-thread.ts';

/** For thresholds below, each scope is timed: the watchdog's timers count whole milliseconds. */
const MIN_MARKED_THRESHOLD_MILLIS = 20;

/** How long a process that ends waits for source maps, at most, if blocks wait for them. */
const EXIT_WAIT_MILLIS = 100;

/**
 * One sample a second on average. Of an overload that has only just begun, more: the order of three
 * routes is to be known within a minute.
 */
const PROFILE_INTERVAL_MILLIS = 1000;
const FIRST_PROFILE_INTERVAL_MILLIS = 125;
const FIRST_PROFILE_MOMENTS = 480;
/** For benchmarks: another interval, in the configuration. */
const PROFILE_INTERVAL = Symbol.for('opentelemetry-instrumentation-event-loop.profile-interval');

/** In the configuration: blocks are recorded for a test. */
const RECORDING = Symbol.for('opentelemetry-instrumentation-event-loop.recording');

/** Where a session sends what it finds. */
export interface SessionTargets {
  tracer(): Tracer;
  /** Undefined where nothing is sent to an SDK. */
  tracerProvider?(): TracerProvider;
  instruments(): Instruments;
  /** Undefined where there is no SDK for logs. */
  logger(): Logger | undefined;
  /** Called on every beat of the lag sampler, at `now`. */
  beat(now: number): void;
  /** Called by a capture, in the middle of a block of this age: no regular expression in it. */
  blocked?(ageMillis: number): void;
  /** Nothing is exported, of ongoing blocks neither. */
  readonly isConsoleOnly?: boolean;
}

/** Something that is alive while the instrumentation is enabled. */
interface Part {
  start?(): void;
  stop?(): void;
}

const SURROUNDINGS: Surroundings = {
  context: () => contextOf(currentResource()),
  active: () => context.active(),
  resourceType: () => resourceTypeOf(currentResource()),
  spanStart: (span) => {
    const start = spanStartTime(span);
    return start === undefined ? Number.NaN : hrTimeToMillis(start);
  },
  lineage: {
    endOf: (span) => {
      const end = spanEndTime(span);
      return end === undefined ? Number.NaN : hrTimeToMillis(end);
    },
    // A processor knows more than the span itself.
    parentOf: (span, ctx) => stallsOfThread().parentOf(span) ?? localParentOf(span, ctx),
  },
};

/**
 * One for the thread, of whichever session is active: call sites that V8 has compiled for a wrapper
 * find the same one again.
 */
const nativeCalls = new NativeCalls();

export class Session {
  readonly #parts: readonly Part[];
  readonly #clock = new SystemClock();
  readonly #guard: Guard;
  readonly #gc = new GcMeter();
  /** Without a function of the application: the watchdog thread is given it. */
  readonly #origin: OriginOptions;
  readonly #originOf: OriginOf;
  readonly #positions: SourcePositions | undefined;
  readonly #health: Health;
  readonly #reporter: BlockReporter;
  readonly #console: ConsoleReporter | undefined;
  readonly #report: HtmlReport;
  readonly #stalls: BlockFeed;
  readonly #capturer = this.#createCapturer();
  readonly #exclusions: Exclusions;
  readonly #suspensions: Suspensions;
  readonly #ledger: Ledger;
  readonly #scopes: ContextScopes;
  readonly #lagSampler: LagSampler;
  readonly #hooks: AsyncHooks | undefined;
  readonly #watchdog: Watchdog | undefined;
  /** If it is asked for: memory that the health server reads. */
  readonly #healthSlots: Int32Array | undefined;
  readonly #sampleMemory: SharedArrayBuffer | undefined;
  readonly #healthServer: HealthServer | undefined;
  readonly #profiler: LoopProfiler | undefined;
  readonly #capturesKnown = new Latch();
  readonly #shutdown = new SdkShutdown(
    () => this.settle(),
    (error) => this.#onHookError(error),
  );
  readonly #tick: Tick | undefined;
  #finishedIteration = Number.NaN;

  constructor(
    private readonly config: ResolvedConfig,
    private readonly targets: SessionTargets,
    private readonly log: OnceLogger,
  ) {
    const { thresholdMillis, lagIntervalMillis } = config;
    const clock = this.#clock;
    this.#guard = new Guard(log.later);
    const canCapture = config.captureStack && this.#canCapture();
    const mode = resolveHooksMode(config.asyncHooks, canCapture, log);
    const times = captureTimes(
      thresholdMillis,
      lagIntervalMillis,
      canCountIterations,
      this.#isRecording(),
    );
    if (!reportsGc) log.log('info', 'this runtime does not report garbage collection');

    const { inApp } = config;
    this.#origin = {
      inApp: typeof inApp === 'function' ? undefined : inApp,
      cwd: this.#guard.run('no working directory', () => process.cwd()),
      mainFile: mainFile(),
    };
    this.#originOf = createOriginOf({
      ...this.#origin,
      inApp,
      onError: (error) => log.log('error', 'inApp threw or returned no boolean', error),
    });
    if (config.sourceMaps && canCapture) this.#positions = new SourcePositions(log);
    // One for the process, and not for one that only starts the application.
    if (config.healthServer !== undefined && isMainThread && !isLauncher(this.#origin.mainFile)) {
      this.#healthSlots = createHealthSlots(true);
      this.#sampleMemory = new SharedArrayBuffer(SharedText.BYTES);
    }
    this.#health = new Health(clock, lagIntervalMillis, this.#healthSlots);
    const describer = this.#createDescriber();
    this.#reporter = this.#createReporter(describer);
    if (config.console !== false) {
      const profile = () => this.loopProfile();
      this.#console = new ConsoleReporter(
        config.console,
        this.settle,
        thresholdMillis,
        false,
        profile,
      );
    }
    const sources = { settle: this.settle, loopProfile: () => this.loopProfile() };
    this.#report = new HtmlReport(config.reportFile, thresholdMillis, sources, log);
    this.#stalls = new BlockFeed(
      clock,
      (span) => this.#ledger.ongoingPileUp(span),
      {
        ended: (stallMillis) => targets.instruments().stall(stallMillis),
        stalled: (waits, operation) =>
          this.#guard.run('cannot record a metric', () =>
            targets.instruments().stallCaused(waits, operation),
          ),
      },
      () => this.#reportPending(),
      {
        reportEnded: () => this.flush(),
        taskStart: () => this.#ledger.task.start,
        // Spans that end in it were stalled; not where the process was suspended instead.
        isSuspended: (pileUp) => this.#exclusions.isSuspended(pileUp),
      },
    );
    if (canCapture) this.#watchdog = this.#createWatchdog(times);
    const memory = this.#watchdog?.memory;
    const watchedMemory = () => (this.#watchdog?.watches ? memory : undefined);
    const runDelay = new RunDelay(clock);
    this.#exclusions = new Exclusions(thresholdMillis, watchedMemory, runDelay);
    this.#suspensions = this.#createSuspensions(runDelay, watchedMemory);
    this.#healthServer = this.#createHealthServer(runDelay);
    const around = { ...SURROUNDINGS, threadTimes: runDelay.within.bind(runDelay) };

    this.#ledger = new Ledger(
      { thresholdMillis, beatMillis: lagIntervalMillis },
      clock,
      around,
      this.#onBlock,
      memory,
    );
    if (canCapture && config.loopProfile !== 'off') {
      this.#profiler = this.#createProfiler(describer);
    }
    this.#scopes = new ContextScopes(this.#ledger, clock, log.faults);
    // For thresholds that the lag sampler is too slow for. With it, something runs all the time.
    const needsPulse = this.#watchdog !== undefined && times.pulseMillis < lagIntervalMillis;
    const pulse = needsPulse ? new Pulse(times.pulseMillis) : undefined;
    this.#lagSampler = this.#createLagSampler(mode !== 'off' && pulse === undefined);
    if (canCountIterations) this.#tick = new Tick(this.#onTick);
    if (mode !== 'off') {
      const options = { onDemand: mode === 'auto', promises: !canCapture };
      const tickResource = () => this.#tick?.resource;
      this.#hooks = new AsyncHooks(
        this.#ledger,
        this.#lagSampler,
        tickResource,
        options,
        log.faults,
      );
    }

    this.#parts = [
      this.#healthServer ?? {},
      this.#health,
      this.#positions ?? {},
      this.#stalls,
      {
        start: () => void process.on('beforeExit', this.settle),
        stop: () => void process.off('beforeExit', this.settle).off('exit', this.#reportAtExit),
      },
      // Stopped after the console and the report, which have it.
      this.#profiler ?? {},
      this.#console ?? {},
      this.#report,
      { start: () => this.#ledger.reset(), stop: () => this.#ledger.reset() },
      {
        start: () => this.watchSdk(),
        stop: () => {
          this.#scopes.release();
          this.#shutdown.release();
        },
      },
      this.#gc,
      inRootContext(this.#lagSampler),
      inRootContext(pulse ?? {}),
      this.#watchdog ?? { start: () => this.#capturesKnown.open() },
      { stop: () => this.#capturesKnown.open() },
      this.#suspensions,
      this.#watchdog && config.nativeCalls ? this.#nativeCallsPart(this.#watchdog) : {},
      isMainThread ? {} : this.#poolWaits(),
      inRootContext(this.#tick ?? {}),
      this.#hooks ?? {},
    ];
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

  /** Stack samples can be taken from now on, or cannot be taken at all. Keeps no process alive. */
  ready(): Promise<void> {
    return this.#capturesKnown.opened();
  }

  /** Reports the blocks that have ended; some wait for the source maps of their code. */
  flush(): void {
    this.#guard.run('cannot report blocks', () => {
      this.#ledger.asOwnWork(() => this.#reporter.flush());
    });
    const profiler = this.#profiler;
    if (profiler?.hasSamples !== true) return;
    this.#guard.run('cannot make the loop profile', () => {
      this.#ledger.asOwnWork(() => profiler.flush());
    });
  }

  /** Resolves when all blocks are reported that {@link flush} was called for. */
  async flushed(): Promise<void> {
    await this.#positions?.settled();
  }

  health(windowMillis: number): EventLoopHealth | undefined {
    return this.#guard.run('cannot read the health of the event loop', () =>
      this.#health.read(windowMillis, this.#lagSampler.overdue()),
    );
  }

  loopProfile(windowMillis?: number): LoopProfile | undefined {
    return this.#guard.run('cannot read the loop profile', () =>
      this.#profiler?.read(windowMillis),
    );
  }

  /** The process ends by a signal, without an `exit` event. */
  endBySignal(): void {
    this.#guard.run('cannot write the report page', () => this.#report.write());
  }

  /**
   * The context manager and the SDK may be set after us (NodeSDK does), and replaced at any time.
   */
  watchSdk(): void {
    this.#guard.run('cannot watch the context manager', () => {
      const manager = currentContextManager();
      if (manager !== undefined) this.#scopes.watch(manager);
    });
    this.#guard.run('cannot watch the SDK', () => {
      const provider = this.targets.tracerProvider?.();
      if (provider !== undefined) this.#shutdown.watch(provider);
    });
  }

  /** False where it reached the threshold by a suspension only: what is around it may have more. */
  readonly #onBlock = (block: Block): boolean => {
    const reason = this.#exclusions.reasonFor(block);
    if (reason !== undefined) return reason !== 'suspension';
    this.#guard.run('cannot count a block', () => this.#health.block(block.end - block.start));
    const around = this.#guard.run('cannot find stalled spans', () =>
      this.#stalls.spansAround(block),
    );
    const reported = this.#isRecording()
      ? { ...block, runDelayMillis: this.#exclusions.runDelayIn(block) }
      : block;
    const span = this.#reporter.add(reported, around?.stalledSpans);
    if (around !== undefined) {
      this.#guard.run('cannot find stalled spans', () => this.#stalls.add(block, around, span));
    }
    return true;
  };

  /** Hot: once per iteration, between what runs before and after it. */
  readonly #onTick = (): void => {
    try {
      // What V8 has ended half-way (`vm` with a timeout) is not running any more.
      if (callStack.depth !== 0) emptyCallStack();
      this.#ledger.tick();
      this.#hooks?.tick();
    } catch (error) {
      this.log.faults.inHook ??= error;
    }
  };

  readonly #onHookError = (error: unknown): void => {
    this.log.faults.inHook ??= error;
  };

  /**
   * The loop has run out of work, the process exits, or the SDK shuts down: reports what no further
   * callback would close. Once for an iteration: between the last one and the end of the process
   * Node.js ends threads.
   */
  readonly settle = (): void => void attempt(() => this.#reportAll(), this.#onHookError);

  #reportAll(): void {
    this.#guard.run('cannot report blocks', () => {
      const iteration = canCountIterations ? this.#clock.loopCount() : Number.NaN;
      if (iteration !== this.#finishedIteration) this.#ledger.finish();
      this.#finishedIteration = iteration;
    });
    this.#guard.run('cannot measure suspensions', () => this.#suspensions.finish());
    this.#reportPending();
  }

  /**
   * Not unref'd: it runs in this iteration or the next one, and a process that ends right after a
   * block still reports it.
   */
  #scheduleTurn(): void {
    process.off('exit', this.#reportAtExit);
    if (stallsOfThread().isWatched) process.on('exit', this.#reportAtExit);
    setImmediate(() => attempt(() => this.#turn(), this.#onHookError));
  }

  #turn(): void {
    this.#guard.run('cannot report blocks', () => {
      this.#ledger.asOwnWork(() => this.#reporter.turn());
    });
    if (!this.#reporter.isWaiting) process.off('exit', this.#reportAtExit);
  }

  readonly #reportAtExit = (): void => void attempt(() => this.#reportPending(), this.#onHookError);

  /** Does not wait for source maps for long. */
  #reportPending(): void {
    this.flush();
    this.#guard.run('cannot report blocks', () => this.#positions?.settle(EXIT_WAIT_MILLIS));
    this.log.catchUp();
  }

  #canCapture(): boolean {
    const reason = whyNoCapture();
    if (reason !== undefined) this.log.log('warn', `captureStack is off: ${reason}`);
    return reason === undefined;
  }

  #createReporter(describer: CodeDescriber): BlockReporter {
    const { requireParentSpan, maxSpansPerMinute, blockEvents } = this.config;
    const { blockHook, ignoreBlockHook, profileDir } = this.config;
    const files = profileDir === undefined ? undefined : new ProfileFiles(profileDir);
    return new BlockReporter(
      { requireParentSpan, maxSpansPerMinute, blockEvents, blockHook, ignoreBlockHook },
      {
        tracer: () => this.targets.tracer(),
        instruments: () => this.targets.instruments(),
        logger: () => this.targets.logger(),
        ...(files && { profile: (stacks, block) => files.write(stacks, block) }),
        line: (block, blockContext) =>
          blockLine(block, attributionIn(blockContext), workingFolder(), PLAIN),
        gcWithin: (start, end) => {
          this.#gc.collect();
          return this.#gc.within(start, end);
        },
        // The number of entry spans that may have waited is on the block's span.
        turnsToWait: () => (stallsOfThread().isWatched ? IDLE_ITERATIONS : 0),
      },
      {
        schedule: () => this.#scheduleTurn(),
        reported: (block, blockContext, isIgnored, samples) => {
          if (!isIgnored) {
            this.#console?.block(block, blockContext);
            this.#guard.run('cannot put a block on the report page', () =>
              this.#report.block(block, blockContext, samples),
            );
          }
          publishBlock(block, blockContext, isIgnored);
        },
      },
      describer,
      this.#clock,
      this.log,
    );
  }

  #isRecording(): boolean {
    return (this.config as unknown as Record<symbol, unknown>)[RECORDING] === true;
  }

  #createDescriber(): CodeDescriber {
    const positions = this.#positions;
    const options = {
      originOf: this.#originOf,
      cwd: workingFolder(),
      gcWithin: (from: number, until: number) => this.#gc.within(from, until),
      listsFunctions: this.#isRecording(),
      lookUp:
        positions === undefined
          ? lookUpWithoutMaps()
          : (asked: readonly CodePosition[], done: (found: SourcePositionList) => void) =>
              positions.lookup(asked, (found) => this.#ledger.asOwnWork(() => done(found))),
    };
    return new CodeDescriber(options, this.#guard);
  }

  #createLagSampler(canIdle: boolean): LagSampler {
    const { lagIntervalMillis } = this.config;
    return new LagSampler(this.#ledger, this.#clock, {
      intervalMillis: lagIntervalMillis,
      canIdle,
      noLag: (t, due, waited) => this.#noLag(t, due, waited),
      record: (millis) => {
        this.#guard.run('cannot read the health of the event loop', () => this.#health.lag(millis));
        this.targets.instruments().lag(millis);
        if (this.#report.isRecording) this.#report.lag(this.#clock.waited(), millis);
      },
      upkeep: () => {
        const now = this.#clock.now();
        nativeCalls.followSqlite();
        this.#clock.syncEpoch();
        this.watchSdk();
        this.#watchdog?.beat(now, this.#clock.waited());
        this.#beatProfile(now);
        this.targets.beat(now);
        this.log.catchUp();
      },
      idle: () => {
        this.#watchdog?.idle();
        this.#hooks?.arm();
      },
      wake: (runsSince, due) => {
        this.#watchdog?.wakeUp(this.#clock.now());
        // Without it, in a beat, which has done this.
        if (!Number.isNaN(due)) this.#noLag(runsSince, due);
      },
      armed: (due) => {
        this.#guard.run('the health server is not told of a beat', () =>
          this.#healthServer?.beat(due),
        );
      },
      onError: this.#onHookError,
    });
  }

  #createHealthServer(runDelay: RunDelay): HealthServer | undefined {
    const { healthServer, thresholdMillis, lagIntervalMillis } = this.config;
    const [lag, sample] = [this.#healthSlots, this.#sampleMemory];
    if (healthServer === undefined || lag === undefined || sample === undefined) return undefined;
    const watchdog = this.#watchdog?.memory;
    return new HealthServer(
      {
        ...healthServer,
        memory: { beat: createBeatMemory(), lag, sample, watchdog: watchdog?.buffer },
        thresholdMillis,
        lagIntervalMillis,
        origin: this.#origin,
        hasLoader: hasLoader(),
      },
      watchdog,
      runDelay.schedstat,
      this.log,
    );
  }

  #createSuspensions(runDelay: RunDelay, memory: () => SharedMemory | undefined): Suspensions {
    return new Suspensions(
      this.#clock,
      {
        runDelay,
        throttling: new CpuThrottling(),
        memory,
        preemptions: () => process.resourceUsage().involuntaryContextSwitches,
      },
      (millis, reason) => this.targets.instruments().suspension(millis, reason),
    );
  }

  /** See `LagSamplerOptions.noLag`. */
  #noLag(t: number, due: number, waited = 0): number {
    const sample = () => this.#suspensions.sample(t, due, waited);
    return this.#guard.run('cannot measure suspensions', sample) ?? waited;
  }

  #beatProfile(now: number): void {
    const profiler = this.#profiler;
    if (profiler === undefined) return;
    this.#guard.run('cannot make the loop profile', () => {
      profiler.beat(now, this.#clock.waited());
      if (profiler.hasWork(now)) this.#ledger.asOwnWork(() => profiler.work(now));
    });
  }

  #createProfiler(describer: CodeDescriber): LoopProfiler {
    const parentOf = SURROUNDINGS.lineage?.parentOf ?? (() => undefined);
    return new LoopProfiler(this.#clock, {
      sample: (requestedAt) => this.#capturer.sample(requestedAt),
      wasWaitingAt: (time) => this.#ledger.wasWaitingAt(time),
      taskStart: () => this.#ledger.task.start,
      addToBlock: (sample) => this.#ledger.add(sample),
      entryOf: (ctx) => new EntryOperation(ctx, parentOf),
      describe: (samples, done) => describer.describeInSource(samples, done),
      count: (millis, code, operation) => this.targets.instruments().busy(millis, code, operation),
    });
  }

  #profileOptions(): ProfileOptions | undefined {
    const { loopProfile } = this.config;
    if (loopProfile === 'off') return undefined;
    const given = (this.config as unknown as Record<symbol, unknown>)[PROFILE_INTERVAL];
    const isGiven = typeof given === 'number' && given > 0;
    return {
      isAlways: loopProfile === 'always',
      intervalMillis: isGiven ? given : PROFILE_INTERVAL_MILLIS,
      firstIntervalMillis: FIRST_PROFILE_INTERVAL_MILLIS,
      firstMoments: isGiven ? 0 : FIRST_PROFILE_MOMENTS,
    };
  }

  #createCapturer(): Capturer {
    return new Capturer(this.#clock, {
      isLatest: (busyPeriodStart) => this.#ledger.isLatest(busyPeriodStart),
      // In a callback of its own it has not.
      mayWait: () => executionAsyncId() === 0 && this.#ledger.mayWait(),
      resourceType: takeResourceType,
      nativeCall: takeNativeCall,
      add: (sample) => this.#ledger.add(sample),
    });
  }

  #createWatchdog(times: CaptureTimes): Watchdog {
    const { thresholdMillis, unfinishedAfterMillis } = this.config;
    return new Watchdog(
      {
        ...times,
        unfinishedAfterMillis,
        profile: this.#profileOptions(),
        sampleMemory: this.#sampleMemory,
      },
      {
        threadSetup: () => ({
          code: WATCHDOG_CODE,
          env: this.targets.isConsoleOnly === true ? {} : exporterEnvironment(process.env),
          ongoing: {
            thread: THIS_THREAD,
            blockEvents: this.config.blockEvents,
            exporterCode: EXPORTER_CODE,
            resolveFrom: packageOrigins(),
            hasLoader: hasLoader(),
            origin: this.#origin,
          } satisfies OngoingReportOptions,
        }),
        capture: (busyPeriodStart, requestedAt, profileInterval) => {
          const sample = this.#capturer.capture(busyPeriodStart, requestedAt);
          if (sample === undefined) return undefined;
          try {
            this.#hooks?.arm(sample.time - requestedAt < LATE_MILLIS);
          } catch {
            // Near the end of the stack.
          }
          this.#profiler?.addBlockSample(sample, profileInterval);
          this.targets.blocked?.(sample.time - busyPeriodStart);
          return sample;
        },
        reply: (sample) => this.#ongoingReply(sample),
        profile: (requestedAt, intervalMillis) =>
          this.#profiler?.answer(requestedAt, intervalMillis) ?? { isIdle: true },
        watching: (isWatching) => {
          this.#ledger.watch(isWatching && thresholdMillis >= MIN_MARKED_THRESHOLD_MILLIS);
          this.#hooks?.watch(isWatching);
          if (isWatching) this.#capturesKnown.open();
        },
        lost: () => this.#onCapturesLost(),
      },
      this.log,
      isMainThread ? WatchdogThread : SharedWatchdogThread,
    );
  }

  #ongoingReply(sample: StackSample): CaptureReply<UnnamedFacts> {
    const { requireParentSpan } = this.config;
    return ongoingReply(sample, this.#ledger.ongoing(), this.#clock, requireParentSpan);
  }

  #nativeCallsPart(watchdog: Watchdog): Part {
    const ports = {
      facts: (sample: StackSample) => this.#ongoingReply(sample).facts,
      resourceType: SURROUNDINGS.resourceType,
      add: (sample: StackSample) => this.#ledger.add(sample),
    };
    const { longCall } = watchdog.memory;
    const longCalls = new LongCalls(this.#clock, longCall, ports, this.log.faults);
    const onError = (error: unknown) =>
      this.log.later.log('warn', 'a built-in function cannot be wrapped', error);
    return {
      start: () => nativeCalls.enable(onError, longCalls),
      stop: () => nativeCalls.disable(),
    };
  }

  #poolWaits(): PoolWaits {
    const listener = {
      begins: () => {
        this.#guard.run('cannot report blocks', () => this.#ledger.finish());
        this.#reportPending();
        this.#watchdog?.memory.closeBusyPeriod();
      },
      ended: () => this.#ledger.endWait(),
    };
    const callingFile = () => captureStack().find(({ isOwn }) => !isOwn)?.file;
    return new PoolWaits(listener, callingFile, this.#onHookError);
  }

  /** Nothing arms hooks any more, and no stack sample shows what a promise reaction runs. */
  #onCapturesLost(): void {
    this.#capturesKnown.open();
    this.#ledger.watch(false);
    if (this.config.asyncHooks === 'auto') this.#hooks?.useAlways();
  }
}

/** The main script, links resolved; undefined where there is none, as with `node --eval`. */
function mainFile(): string | undefined {
  const [, script] = process.argv;
  return script === undefined ? undefined : attempt(() => realpathSync(script));
}

/** Empty where it is gone. */
function workingFolder(): string {
  return attempt(() => process.cwd()) ?? '';
}

/** Not in the caller's context, which a timer would keep alive. */
function inRootContext(part: Part): Part {
  return {
    start: () => context.with(ROOT_CONTEXT, () => part.start?.()),
    stop: () => part.stop?.(),
  };
}
