/** Detection, sampling and reporting of a session share this. */
import { realpathSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import type { Context, Span, Tracer, TracerProvider } from '@opentelemetry/api';
import type { ResolvedConfig } from '../config.ts';
import type { SpanFacts } from '../detect/running-code.ts';
import type { Extra } from '../extra.ts';
import type { OriginOptions } from '../name/in-app.ts';
import type { OnceLogger } from '../otel/diag-once.ts';
import { findParentsBy } from '../otel/entry-span.ts';
import type { Logger } from '../otel/logger.ts';
import { localParentOf } from '../otel/sdk-internals.ts';
import type { Instruments } from '../report/instruments.ts';
import { whyNoCapture } from '../sample/inspector.ts';
import { SharedMemory } from '../sample/shared-memory.ts';
import { type ThreadKeeperClass, WatchdogThread } from '../sample/watchdog-thread.ts';
import { type Clock, canCountIterations, SystemClock } from '../support/clock.ts';
import { attempt, Guard } from '../support/guard.ts';

/** A session sends what it finds to these. */
export interface SessionTargets {
  tracer(): Tracer;
  /** Undefined if nothing is sent to an SDK. */
  tracerProvider?(): TracerProvider;
  instruments(): Instruments;
  /** Undefined if there is no SDK for logs. */
  logger(): Logger | undefined;
  upkeep(): void;
  /** If true, nothing is exported, not even for an ongoing block. */
  readonly isConsoleOnly?: boolean;
}

/** The package itself sets these; they are no options of a user. */
export interface SessionOptions {
  /** Blocks are recorded for a test, with what the thread lacked of CPU. */
  readonly isRecording?: boolean;
}

export interface Common {
  readonly config: ResolvedConfig;
  readonly targets: SessionTargets;
  readonly log: OnceLogger;
  readonly options: SessionOptions;
  readonly extras: readonly Extra[];
  readonly clock: Clock;
  readonly guard: Guard;
  /** A function as the option `inApp` is not asked here: stack samples must not run it. */
  readonly origin: OriginOptions;
  readonly parentOf: SpanFacts['parentOf'];
  readonly callsTo: SpanFacts['callsTo'];
  readonly capture:
    | { readonly memory: SharedMemory; readonly Thread: ThreadKeeperClass }
    | undefined;
  /** Logs an error of a hook, which must not reach Node.js or the application. */
  onHookError(error: unknown): void;
}

export function createCommon(
  config: ResolvedConfig,
  targets: SessionTargets,
  log: OnceLogger,
  options: SessionOptions,
  extras: readonly Extra[],
): Common {
  const guard = new Guard(log.later);
  const { inApp } = config;
  // A span processor knows more than the span itself.
  const parentOf = (span: Span, context: Context): Span | undefined => {
    for (const extra of extras) {
      const parent = extra.parentOf?.(span);
      if (parent !== undefined) return parent;
    }
    return localParentOf(span, context);
  };
  findParentsBy(parentOf);
  return {
    config,
    targets,
    log,
    options,
    extras,
    clock: new SystemClock(),
    guard,
    origin: {
      inApp: typeof inApp === 'function' ? undefined : inApp,
      cwd: guard.run('no working directory', () => process.cwd()),
      mainFile: mainFile(),
    },
    parentOf,
    callsTo: (port) => extras.flatMap((extra) => extra.callsTo?.(port) ?? []),
    capture: config.captureStack ? captureWith(extras, log) : undefined,
    onHookError: (error) => {
      log.faults.inHook ??= error;
    },
  };
}

function captureWith(extras: readonly Extra[], log: OnceLogger): Common['capture'] {
  const Thread = isMainThread
    ? WatchdogThread
    : extras.find(({ WorkerWatchdog }) => WorkerWatchdog !== undefined)?.WorkerWatchdog;
  // The log has the reason.
  if (!canCountIterations) return undefined;
  const reason = Thread === undefined ? 'worker threads are not watched' : whyNoCapture();
  if (Thread !== undefined && reason === undefined) return { memory: new SharedMemory(), Thread };
  log.log('warn', `captureStack is off: ${reason}`);
  return undefined;
}

/** The main script, links resolved; undefined if there is none, as with `node --eval`. */
function mainFile(): string | undefined {
  const [, script] = process.argv;
  return script === undefined ? undefined : attempt(() => realpathSync(script));
}
