/** Detection, sampling and reporting of a session share this. */
import { realpathSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import type { Context, Span, Tracer, TracerProvider } from '@opentelemetry/api';
import type { Block } from '../../block.ts';
import type { ResolvedConfig } from '../../config.ts';
import type { OnceLogger } from '../../otel/diag-once.ts';
import { findParentsBy } from '../../otel/entry-span.ts';
import type { Logger } from '../../otel/logger.ts';
import { localParentOf } from '../../otel/sdk-internals.ts';
import { type Clock, canCountIterations, SystemClock } from '../../support/clock.ts';
import { attempt, Guard } from '../../support/guard.ts';
import { SharedWatchdogThread } from '../../threads/workers/shared-watchdog-thread.ts';
import type { Instruments } from '../emit/instruments.ts';
import type { OriginOptions } from '../explain/name/in-app.ts';
import type { SpanFacts } from '../record/running-code.ts';
import { whyNoCapture } from '../sample/inspector.ts';
import { SharedMemory } from '../sample/shared-memory.ts';
import { type ThreadKeeperClass, WatchdogThread } from '../sample/watchdog-thread.ts';
import { stallsOfThread } from '../stalls/stalls.ts';

/** Something that is alive while the instrumentation is enabled. */
export interface Part {
  start?(): void;
  stop?(): void;
}

/** The lag timer and the ledger call these. */
export interface LoopListener {
  /** Now and then, in a beat of the lag timer: every 100 ms, or when one comes. */
  upkeep?(now: number): void;
  /** The loop idles from now on. */
  idle?(): void;
  /** The loop works again. */
  wake?(): void;
  /** A block of the application's has ended. */
  block?(block: Block): void;
}

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
): Common {
  const guard = new Guard(log.later);
  const { inApp } = config;
  // A span processor knows more than the span itself.
  const parentOf = (span: Span, context: Context): Span | undefined =>
    stallsOfThread().parentOf(span) ?? localParentOf(span, context);
  findParentsBy(parentOf);
  return {
    config,
    targets,
    log,
    options,
    clock: new SystemClock(),
    guard,
    origin: {
      inApp: typeof inApp === 'function' ? undefined : inApp,
      cwd: guard.run('no working directory', () => process.cwd()),
      mainFile: mainFile(),
    },
    parentOf,
    callsTo: (port) => stallsOfThread().callsTo(port),
    capture: config.captureStack ? captureWith(log) : undefined,
    onHookError: (error) => {
      log.faults.inHook ??= error;
    },
  };
}

function captureWith(log: OnceLogger): Common['capture'] {
  // The log has the reason.
  if (!canCountIterations) return undefined;
  const reason = whyNoCapture();
  const Thread = isMainThread ? WatchdogThread : SharedWatchdogThread;
  if (reason === undefined) return { memory: new SharedMemory(), Thread };
  log.log('warn', `captureStack is off: ${reason}`);
  return undefined;
}

/** The main script, links resolved; undefined if there is none, as with `node --eval`. */
function mainFile(): string | undefined {
  const [, script] = process.argv;
  return script === undefined ? undefined : attempt(() => realpathSync(script));
}
