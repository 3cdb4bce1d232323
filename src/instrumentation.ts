/** EventLoopInstrumentation: lifecycle and wiring only. */
import { setImmediate } from 'node:timers';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { type MeterProvider, metrics, type TracerProvider } from '@opentelemetry/api';
import { InstrumentationBase } from '@opentelemetry/instrumentation';
import { activeHealth, type Claimant, stepBack, takeOver } from './active-instance.ts';
import { type ResolvedConfig, resolveConfig } from './config.ts';
import { ConsoleReporter } from './console/console-reporter.ts';
import { Detector } from './detector.ts';
import {
  DEFAULT_HEALTH_WINDOW_MILLIS,
  Health,
  MAX_HEALTH_WINDOW_MILLIS,
  MIN_HEALTH_WINDOW_MILLIS,
  UNKNOWN_HEALTH,
} from './lag/health.ts';
import { registryOfUnseenSdk } from './otel/api-registry.ts';
import { OnceLogger } from './otel/diag-once.ts';
import { publishBlock } from './report/block-channel.ts';
import { BlockReporter } from './report/block-reporter.ts';
import { createInstruments, type Instruments } from './report/instruments.ts';
import { BlockFeed } from './stall/block-feed.ts';
import { SystemClock } from './support/clock.ts';
import { attempt } from './support/guard.ts';
import type { EventLoopHealth, EventLoopInstrumentationConfig } from './types.ts';
import { PACKAGE_NAME, PACKAGE_VERSION } from './version.ts';

/** How often what is registered globally is looked at: every so many intervals of the lag, a second at the default one, on the next beat. */
const INTERVALS_PER_PROVIDER_CHECK = 50;

/**
 * Finds what blocks the event loop. Give it to `NodeSDK`:
 *
 * ```ts
 * new NodeSDK({ instrumentations: [new EventLoopInstrumentation({ thresholdMillis: 100 })] }).start();
 * ```
 */
export class EventLoopInstrumentation extends InstrumentationBase<EventLoopInstrumentationConfig> {
  // InstrumentationBase's constructor calls our methods before field initialisers would run: declared, never initialised here.
  declare private _log: OnceLogger;
  declare private _instruments: Instruments;
  declare private _detector: Detector | undefined;
  /** Reports what waits to be reported. */
  declare private _flush: (() => void) | undefined;
  declare private _console: ConsoleReporter | undefined;
  declare private _health: Health | undefined;
  declare private _blockFeed: BlockFeed | undefined;
  /** A process that ends by itself right after a block: no further callback would close the last iteration. */
  declare private _onBeforeExit: (() => void) | undefined;
  declare private _claimant: Claimant | undefined;
  declare private _globalMeterProvider: MeterProvider | undefined;
  declare private _followsGlobalMeter: boolean;
  declare private _hasWarnedOfUnseenSdk: boolean | undefined;

  /**
   * @param config see {@link EventLoopInstrumentationConfig}
   * @throws TypeError where an option has the wrong type, RangeError where it is out of range
   */
  constructor(config: EventLoopInstrumentationConfig = {}) {
    const log = new OnceLogger();
    const resolved = resolveConfig(config, process.env, (message) => log.log('warn', message));
    // Not enabled by the base class: it would call enable() before this constructor has run.
    super(PACKAGE_NAME, PACKAGE_VERSION, { ...resolved, enabled: false });
    this._log = log;
    this._followsGlobalMeter = true;
    this._globalMeterProvider = metrics.getMeterProvider();
    // registerInstrumentations, and so NodeSDK, enables whatever says `enabled: false`. Who asked for it to be off wants it off.
    this._config.enabled = true;
    if (resolved.enabled) this.enable();
  }

  protected override init(): undefined {
    return undefined;
  }

  /** Starts detection. Does nothing where it is running. */
  override enable(): void {
    if (this._claimant !== undefined) return;
    super.enable();
    this._claimant = {
      activate: () => this._start(),
      deactivate: () => this._stop(),
      health: (windowMillis) =>
        this._guard(() => this._health?.read(windowMillis, this._detector?.overdue() ?? 0)),
    };
    if (takeOver(this._claimant)) {
      this._log.log(
        'warn',
        'another EventLoopInstrumentation is enabled in this process: it waits, this one reports',
      );
    }
  }

  /** Stops detection and undoes all that `enable()` did. Does nothing where it is stopped. */
  override disable(): void {
    if (this._claimant === undefined) return;
    super.disable();
    const claimant = this._claimant;
    this._claimant = undefined;
    stepBack(claimant);
  }

  /**
   * Puts these options in force at once; options that are not given fall back to the environment and the defaults. `enabled`,
   * where given, enables or disables.
   * @throws TypeError where an option has the wrong type, RangeError where it is out of range; the old ones stay in force then
   */
  override setConfig(config: EventLoopInstrumentationConfig): void {
    // Called by the base class's constructor too, with what ours resolved.
    if (this._log === undefined) {
      super.setConfig(config);
      return;
    }
    super.setConfig(resolveConfig(config, process.env, (message) => this._log.log('warn', message)));
    this._config.enabled = true;
    if (this._detector !== undefined) {
      this._stop();
      this._start();
    }
    if (config.enabled === true) this.enable();
    if (config.enabled === false) this.disable();
  }

  override setTracerProvider(tracerProvider: TracerProvider): void {
    super.setTracerProvider(tracerProvider);
    this._detector?.watchContextManager();
  }

  override setMeterProvider(meterProvider: MeterProvider): void {
    // registerInstrumentations passes the global one where it is given none.
    this._globalMeterProvider = metrics.getMeterProvider();
    this._followsGlobalMeter = meterProvider === this._globalMeterProvider;
    super.setMeterProvider(meterProvider);
  }

  /**
   * Resolves when stacks can be captured, some 50 ms after the event loop has begun to turn, or when it is known that they cannot. For
   * tests and for whoever wants no blind spot; does not keep the process alive. Never rejects.
   */
  ready(): Promise<void> {
    return this._detector?.ready() ?? Promise.resolve();
  }

  /**
   * Has every block that has ended reported by the time it resolves, the one that called it included. For tests, and for platforms that
   * freeze a process between two requests. Blocks are known at once, but with `asyncHooks: 'off'`: there at the next sample of the
   * lag. Exporting is up to the SDK's own `forceFlush`. Never rejects.
   */
  async forceFlush(): Promise<void> {
    // The first is called in the next iteration, which closes this one.
    await nextIteration();
    await nextIteration();
    this._flush?.();
  }

  /**
   * How the event loop fares, for health checks and load shedding. What is going on counts as well: while the loop is held, the lag
   * grows from one call to the next. All 0 where this instrumentation is not enabled. Some 1 µs.
   * @param windowMillis the time looked back on, 100 to 10 000 milliseconds: short for shedding load, which has to react at once; for
   *   a health check at least as long as the time between two of them
   * @throws TypeError where the window is not a number, RangeError where it is out of range
   */
  health(windowMillis: number = DEFAULT_HEALTH_WINDOW_MILLIS): EventLoopHealth {
    if (typeof windowMillis !== 'number')
      throw new TypeError(`health: windowMillis must be a number, got ${typeof windowMillis}`);
    if (!(windowMillis >= MIN_HEALTH_WINDOW_MILLIS && windowMillis <= MAX_HEALTH_WINDOW_MILLIS)) {
      throw new RangeError(
        `health: windowMillis must be ${MIN_HEALTH_WINDOW_MILLIS} to ${MAX_HEALTH_WINDOW_MILLIS}, got ${windowMillis}`,
      );
    }
    // An instance that is enabled and waits for another one is asked all the same.
    return (this._claimant && activeHealth(windowMillis)) ?? UNKNOWN_HEALTH;
  }

  protected override _updateMetricInstruments(): void {
    this._instruments = createInstruments(this.meter);
  }

  private _start(): void {
    const config = this.getConfig() as ResolvedConfig;
    const clock = new SystemClock();
    const health = new Health(clock, config.lagIntervalMillis);
    const checkEveryMillis = INTERVALS_PER_PROVIDER_CHECK * config.lagIntervalMillis;
    let checkedAt: number | undefined;
    const detector: Detector = new Detector(
      config,
      clock,
      {
        block: (block) => {
          this._guard(() => health.block(block.end - block.start));
          const around = this._guard(() => blockFeed.spansAround(block));
          const span = reporter.add(block, around?.stalledSpans);
          if (around !== undefined) this._guard(() => blockFeed.add(block, around, span));
        },
        lag: (millis) => {
          this._guard(() => health.lag(millis));
          this._instruments.lag(millis);
        },
        beat: () => {
          const now = clock.now();
          checkedAt ??= now;
          if (now - checkedAt < checkEveryMillis) return;
          checkedAt = now;
          this._log.catchUp();
          this._followGlobalMeter();
          this._warnOfUnseenSdk();
        },
      },
      this._log,
    );
    const reporter = new BlockReporter(
      {
        requireParentSpan: config.requireParentSpan,
        maxSpansPerMinute: config.maxSpansPerMinute,
        blockHook: config.blockHook,
      },
      {
        tracer: () => this.tracer,
        instruments: () => this._instruments,
        gcWithin: (start, end) => detector.gc.within(start, end),
      },
      {
        // Not unref'd: a process that ends right after a block still reports it.
        schedule: () => void setImmediate(flush),
        reported: (block, context) => {
          this._console?.block(block, context);
          publishBlock(block, context);
        },
      },
      clock,
      this._log,
    );
    const flush = () =>
      this._guard(() => {
        this._guard(() => detector.gc.collect());
        detector.asOwnWork(() => reporter.flush());
      });
    const blockFeed = new BlockFeed(
      clock,
      () => detector.ongoingPileUp(),
      (stallMillis) => this._instruments.stall(stallMillis),
    );
    this._detector = detector;
    this._flush = flush;
    this._health = health;
    this._blockFeed = blockFeed;
    this._guard(() => health.start());
    this._guard(() => blockFeed.start());
    const settle = () => {
      detector.finish();
      flush();
    };
    this._onBeforeExit = settle;
    process.on('beforeExit', settle);
    if (config.console) {
      this._console = new ConsoleReporter(settle);
      this._guard(() => this._console?.start());
    }
    detector.start();
    // NodeSDK is made after us, and its start() enables us before it sets the context manager: all in the same tick.
    process.nextTick(() => {
      this._log.catchUp();
      this._detector?.watchContextManager();
    });
  }

  private _stop(): void {
    if (this._onBeforeExit !== undefined) process.off('beforeExit', this._onBeforeExit);
    this._onBeforeExit = undefined;
    this._guard(() => this._blockFeed?.stop());
    this._blockFeed = undefined;
    this._guard(() => this._console?.stop());
    this._console = undefined;
    this._health = undefined;
    this._detector?.stop();
    this._detector = undefined;
    this._flush = undefined;
  }

  private _guard<Result>(action: () => Result): Result | undefined {
    return attempt(action, (error) =>
      this._log.log('error', 'internal error; stalled spans and health may be missing', error),
    );
  }

  /** A meter, unlike a tracer, does not follow a provider that is set later, and nobody tells us when a configuration file sets one. */
  private _followGlobalMeter(): void {
    const provider = metrics.getMeterProvider();
    if (provider === this._globalMeterProvider) return;
    this._globalMeterProvider = provider;
    if (this._followsGlobalMeter) super.setMeterProvider(provider);
  }

  /** Through the logger of the other copy, since ours is unseen too. */
  private _warnOfUnseenSdk(): void {
    const registry = registryOfUnseenSdk();
    if (registry === undefined || this._hasWarnedOfUnseenSdk) return;
    this._hasWarnedOfUnseenSdk = true;
    this._guard(() =>
      registry.diag?.warn(
        PACKAGE_NAME,
        `the SDK is registered with @opentelemetry/api ${registry.version}, and this package finds a newer copy, which does not see it: spans go without a parent, or there are none. \`npm ls @opentelemetry/api\` shows both`,
      ),
    );
  }
}
