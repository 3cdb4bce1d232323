/** EventLoopInstrumentation: lifecycle and wiring only. */
import { type MeterProvider, metrics, type TracerProvider } from '@opentelemetry/api';
import { InstrumentationBase } from '@opentelemetry/instrumentation';
import { type Claimant, stepBack, takeOver } from './active-instance.ts';
import { SystemClock } from './clock.ts';
import { type ResolvedConfig, resolveConfig } from './config.ts';
import { Detector } from './detect/detector.ts';
import { OnceLogger } from './once.ts';
import { BlockReporter } from './report/block-reporter.ts';
import { createInstruments, type Instruments } from './report/instruments.ts';
import type { EventLoopInstrumentationConfig } from './types.ts';
import { PACKAGE_NAME, PACKAGE_VERSION } from './version.ts';

/** How often the global meter provider is looked at, in beats: a second at the default interval. */
const BEATS_PER_PROVIDER_CHECK = 50;

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
  /** A process that ends by itself right after a block: no further callback would close the last iteration. */
  declare private _onBeforeExit: (() => void) | undefined;
  declare private _claimant: Claimant | undefined;
  declare private _globalMeterProvider: MeterProvider | undefined;
  declare private _followsGlobalMeter: boolean;

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

  protected override _updateMetricInstruments(): void {
    this._instruments = createInstruments(this.meter);
  }

  private _start(): void {
    const config = this.getConfig() as ResolvedConfig;
    const clock = new SystemClock();
    let beats = 0;
    const detector: Detector = new Detector(
      config,
      clock,
      {
        block: (block) => reporter.add(block),
        lag: (millis) => this._instruments.lag(millis),
        beat: () => {
          if (++beats % BEATS_PER_PROVIDER_CHECK === 0) this._followGlobalMeter();
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
        asOwnWork: (work) => detector.asOwnWork(work),
      },
      clock,
      detector.gc,
      this._log,
    );
    this._detector = detector;
    this._onBeforeExit = () => {
      detector.finish();
      reporter.flush();
    };
    process.on('beforeExit', this._onBeforeExit);
    detector.start();
    // NodeSDK.start() enables us before it sets the context manager, in the same tick.
    process.nextTick(() => this._detector?.watchContextManager());
  }

  private _stop(): void {
    if (this._onBeforeExit !== undefined) process.off('beforeExit', this._onBeforeExit);
    this._onBeforeExit = undefined;
    this._detector?.stop();
    this._detector = undefined;
  }

  /** A meter, unlike a tracer, does not follow a provider that is set later, and nobody tells us when a configuration file sets one. */
  private _followGlobalMeter(): void {
    const provider = metrics.getMeterProvider();
    if (provider === this._globalMeterProvider) return;
    this._globalMeterProvider = provider;
    if (this._followsGlobalMeter) super.setMeterProvider(provider);
  }
}
