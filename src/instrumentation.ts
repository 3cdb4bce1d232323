/** EventLoopInstrumentation: what OpenTelemetry uses of this package. What runs is the session. */
import {
  context,
  type MeterProvider,
  metrics,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import { activeSession, stepBack, takeOver } from './active-instance.ts';
import { type ResolvedConfig, resolveConfig } from './config.ts';
import { createInstruments, type Instruments } from './core/emit/instruments.ts';
import {
  DEFAULT_HEALTH_WINDOW_MILLIS,
  MAX_HEALTH_WINDOW_MILLIS,
  MIN_HEALTH_WINDOW_MILLIS,
  UNKNOWN_HEALTH,
} from './core/record/lag/health.ts';
import type { SessionOptions } from './core/session/common.ts';
import { type Session, startSession } from './core/session/session.ts';
import { registryOfOtherSdk } from './otel/api-registry.ts';
import { expectingBlocks } from './otel/context-marks.ts';
import { OnceLogger } from './otel/diag-once.ts';
import { type LoggerProvider, LoggerSource } from './otel/logger.ts';
import { type Claimant, copies } from './support/copies.ts';
import { attempt } from './support/guard.ts';
import { sayAs } from './support/stderr.ts';
import { nextIteration, nextTick } from './support/time.ts';
import type { EventLoopHealth, EventLoopInstrumentationConfig } from './types.ts';
import { PACKAGE_NAME, PACKAGE_VERSION } from './version.ts';

const say = sayAs('register');
const stderrLog = new OnceLogger({ debug: say, info: say, warn: say, error: say }, () => true);

/** Makes an instance for `/testing`: not enabled, it records blocks for a test. Not public. */
export let forRecording: (config: EventLoopInstrumentationConfig) => EventLoopInstrumentation;

/**
 * Finds what blocks the event loop. Give it to `NodeSDK`:
 *
 * ```ts
 * const eventLoop = new EventLoopInstrumentation({ thresholdMillis: 100 });
 * new NodeSDK({ instrumentations: [eventLoop] }).start();
 * ```
 */
// The interface `Instrumentation` without `InstrumentationBase`, whose constructor hooks `require`
// for the whole process; and without its type, so that the published types need no other package.
export class EventLoopInstrumentation {
  static {
    forRecording = (config) => {
      const instrumentation = new EventLoopInstrumentation({ ...config, enabled: false });
      instrumentation._sessionOptions = { isRecording: true };
      return instrumentation;
    };
  }

  readonly instrumentationName: string = PACKAGE_NAME;
  readonly instrumentationVersion: string = PACKAGE_VERSION;

  private readonly _log = new OnceLogger();
  private _config: ResolvedConfig;
  private _sessionOptions: SessionOptions = {};
  private _tracer: Tracer = trace.getTracer(PACKAGE_NAME, PACKAGE_VERSION);
  /** Undefined: the global one. */
  private _tracerProvider: TracerProvider | undefined;
  private _instruments: Instruments = createInstruments(
    metrics.getMeter(PACKAGE_NAME, PACKAGE_VERSION),
  );
  private readonly _loggers = new LoggerSource(PACKAGE_NAME, PACKAGE_VERSION);
  /** Undefined while another instance is active. */
  private _session: Session | undefined;
  private _claimant: Claimant | undefined;
  private _globalMeterProvider: MeterProvider = metrics.getMeterProvider();
  private _followsGlobalMeter = true;
  private _hasWarnedOfOtherSdk = false;

  /**
   * @param config see {@link EventLoopInstrumentationConfig}
   * @throws a TypeError if an option has the wrong type, a RangeError if it is out of range
   */
  constructor(config: EventLoopInstrumentationConfig = {}) {
    const resolved = this._resolve(config);
    this._config = inForce(resolved);
    if (resolved.enabled) this.enable();
  }

  /** Starts detection. */
  enable(): void {
    if (this._claimant !== undefined) return;
    this._claimant = {
      activate: () => this._start(),
      deactivate: () => this._stop(),
      session: () => this._session,
    };
    if (takeOver(this._claimant)) {
      this._log.log(
        'warn',
        'another EventLoopInstrumentation is enabled in this process: ' +
          'this instance is active, the earlier one is paused',
      );
    }
  }

  /** Stops detection and undoes all that `enable()` did. */
  disable(): void {
    if (this._claimant === undefined) return;
    const claimant = this._claimant;
    this._claimant = undefined;
    stepBack(claimant);
  }

  /** Whether it is enabled, also while another instance is the active one. */
  isEnabled(): boolean {
    return this._claimant !== undefined;
  }

  /**
   * Replaces all options, with the environment and the defaults for others. `enabled`, if it is
   * given, enables or disables.
   * @throws a TypeError or a RangeError for a bad option; the old ones stay in force then
   */
  setConfig(config: EventLoopInstrumentationConfig): void {
    this._config = inForce(this._resolve(config));
    if (this._session !== undefined) {
      this._stop();
      this._start();
    }
    if (config.enabled === true) this.enable();
    if (config.enabled === false) this.disable();
  }

  /** The options in force, defaults included. `enabled` is always true. */
  getConfig(): EventLoopInstrumentationConfig {
    return this._config;
  }

  /** Spans come from this provider from now on. */
  setTracerProvider(tracerProvider: TracerProvider): void {
    this._attempt(() => {
      this._tracer = tracerProvider.getTracer(PACKAGE_NAME, PACKAGE_VERSION);
      // registerInstrumentations passes the global one if it is given none.
      const isGlobal = tracerProvider === trace.getTracerProvider();
      this._tracerProvider = isGlobal ? undefined : tracerProvider;
    });
    this._withSession((session) => session.watchSdk());
  }

  /** Metrics go to this provider from now on. */
  setMeterProvider(meterProvider: MeterProvider): void {
    this._attempt(() => {
      this._useMeterProvider(meterProvider);
      // registerInstrumentations passes the global one if it is given none.
      this._globalMeterProvider = metrics.getMeterProvider();
      this._followsGlobalMeter = meterProvider === this._globalMeterProvider;
    });
  }

  /** Log events go to this provider from now on. */
  setLoggerProvider(loggerProvider: LoggerProvider): void {
    this._attempt(() => this._loggers.use(loggerProvider));
  }

  /**
   * Resolves when stack samples can be taken, some 50 ms after the event loop has begun to turn, or
   * never can. It keeps no process alive, and never rejects.
   */
  ready(): Promise<void> {
    return this._session?.ready() ?? Promise.resolve();
  }

  /**
   * Reports every block that has ended, and the one that calls it, for platforms that freeze a
   * process. Exporting is up to the SDK. It never rejects.
   */
  async forceFlush(): Promise<void> {
    // The first is called in the next iteration, which closes this one.
    await nextIteration();
    await nextIteration();
    await this._withSession((session) => session.report());
  }

  /**
   * Writes the report page of this thread now. It needs the option `reportFile`.
   * @param path of the HTML file; folders around it are made
   * @returns whether it is written; if not, `diag` has the reason. It rejects only with a
   *   TypeError, if `path` is no text or is empty
   */
  async writeReport(path: string): Promise<boolean> {
    if (typeof path !== 'string' || path.trim() === '')
      throw new TypeError(`writeReport: path must be a path, got ${typeof path}`);
    await this.forceFlush();
    try {
      const { writeReport } = copies();
      if (writeReport === undefined) throw new Error('it needs the option reportFile');
      writeReport(path);
      return true;
    } catch (error) {
      this._log.log('warn', 'cannot write the report page', error);
      return false;
    }
  }

  /**
   * The lag, the utilization and the blocked time of the last seconds. All are 0 while it is not
   * enabled.
   * @param windowMillis how many milliseconds to look back, 100 to 10 000, 5000 by default
   * @throws a TypeError or a RangeError for another value
   */
  health(windowMillis: number = DEFAULT_HEALTH_WINDOW_MILLIS): EventLoopHealth {
    checkWindow('health', windowMillis, MIN_HEALTH_WINDOW_MILLIS, MAX_HEALTH_WINDOW_MILLIS);
    // Also of an instance that is paused.
    return (this._claimant && activeSession()?.health(windowMillis)) ?? UNKNOWN_HEALTH;
  }

  /**
   * Runs code that is meant to block, such as a warm-up, and what it awaits. Its blocks get neither
   * a span nor an event nor a line of `console`, also while they last, and count in metrics with
   * `event_loop.block.expected`. The mark is in the context: a listener bound to another one is not
   * expected, and without a context manager, nothing after the first `await` is.
   * @returns what `fn` returns
   * @throws what `fn` throws; a TypeError if `fn` is not a function
   */
  expectBlock<Result>(fn: () => Result): Result {
    if (typeof fn !== 'function')
      throw new TypeError(`expectBlock: fn must be a function, got ${typeof fn}`);
    return context.with(expectingBlocks(context.active()), fn);
  }

  private _resolve(config: EventLoopInstrumentationConfig): ResolvedConfig {
    // Without `OTEL_LOG_LEVEL`, the SDK of `/register` has no logger that would say what is wrong.
    const isUnheard = copies().isSdkOfEnvironment && !process.env['OTEL_LOG_LEVEL'];
    const warn = (message: string) => (isUnheard ? stderrLog : this._log).log('warn', message);
    return resolveConfig(config, process.env, warn);
  }

  private _useMeterProvider(meterProvider: MeterProvider): void {
    this._instruments = createInstruments(meterProvider.getMeter(PACKAGE_NAME, PACKAGE_VERSION));
  }

  private _start(): void {
    const config = this._config;
    const options = this._sessionOptions;
    const targets = {
      tracer: () => this._tracer,
      tracerProvider: () => this._tracerProvider ?? trace.getTracerProvider(),
      instruments: () => this._instruments,
      logger: () => this._loggers.get(),
      upkeep: () => {
        this._followGlobalMeter();
        this._warnOfOtherSdk();
      },
    };
    this._session = this._attempt(() => startSession(config, targets, this._log, options));
    // NodeSDK is made after us, and its start() enables us before it sets the context manager: all
    // in the same tick.
    nextTick(() => {
      this._log.catchUp();
      this._withSession((session) => session.watchSdk());
    });
  }

  private _stop(): void {
    this._withSession((session) => session.stop());
    this._session = undefined;
  }

  /** Methods that the host calls must not throw, whatever fails inside. */
  private _attempt<Result>(action: () => Result): Result | undefined {
    return attempt(action, (error) => {
      this._log.log('error', 'internal error; not everything is detected', error);
    });
  }

  private _withSession<Result>(action: (session: Session) => Result): Result | undefined {
    const session = this._session;
    return session && this._attempt(() => action(session));
  }

  /** A meter, unlike a tracer, does not follow a provider that is set later. */
  private _followGlobalMeter(): void {
    const provider = metrics.getMeterProvider();
    if (provider === this._globalMeterProvider) return;
    this._globalMeterProvider = provider;
    if (this._followsGlobalMeter) this._useMeterProvider(provider);
  }

  /** Through the logger of the other copy, since the SDK does not use this one. */
  private _warnOfOtherSdk(): void {
    const registry = registryOfOtherSdk();
    if (registry === undefined || this._hasWarnedOfOtherSdk) return;
    this._hasWarnedOfOtherSdk = true;
    attempt(() =>
      registry.diag?.warn(
        PACKAGE_NAME,
        `the SDK is registered with @opentelemetry/api ${registry.version}, and this package ` +
          'finds a newer copy, which does not use it: spans have no parent, or there are none. ' +
          '`npm ls @opentelemetry/api` shows both',
      ),
    );
  }
}

/**
 * registerInstrumentations, and so NodeSDK, enables whatever says `enabled: false`. It stays
 * disabled.
 */
function inForce(config: ResolvedConfig): ResolvedConfig {
  return { ...config, enabled: true };
}

function checkWindow(method: string, millis: number, min: number, max: number): void {
  const what = `${method}: windowMillis must be`;
  if (typeof millis !== 'number') throw new TypeError(`${what} a number, got ${typeof millis}`);
  if (!(millis >= min && millis <= max))
    throw new RangeError(`${what} ${min} to ${max}, got ${millis}`);
}
