/**
 * Everything that is alive while the instrumentation is enabled: an ordered list of parts, started in
 * this order and stopped in the opposite one. Data flows one way: hooks → ledger → exclusions →
 * report; the watchdog thread sends stack samples to the ledger.
 */
import { executionAsyncResource } from 'node:async_hooks';
import { setImmediate } from 'node:timers';
import { isMainThread } from 'node:worker_threads';
import { type Context, context, ROOT_CONTEXT, type Span, type Tracer } from '@opentelemetry/api';
import type { Block, OngoingPileUp } from './block.ts';
import type { ResolvedConfig } from './config.ts';
import { ConsoleReporter } from './console/console-reporter.ts';
import { Exclusions } from './exclude/exclusions.ts';
import { AsyncHooks } from './hooks/async-hooks.ts';
import { ContextScopes } from './hooks/context-scopes.ts';
import { type HookedMode, resolveHooksMode } from './hooks/hooks-mode.ts';
import { contextOf, resourceTypeOf } from './hooks/resource-classes.ts';
import { Health } from './lag/health.ts';
import { LagSampler } from './lag/lag-sampler.ts';
import { Pulse } from './lag/pulse.ts';
import { GcMeter } from './loop/gc-meter.ts';
import { IterationLedger } from './loop/iteration-ledger.ts';
import type { Ledger } from './loop/ledger.ts';
import { ScopeLedger } from './loop/scope-ledger.ts';
import type { Surroundings } from './loop/surroundings.ts';
import { hrTimeToMillis } from './otel/hr-time.ts';
import type { OnceLogger } from './otel/diag-once.ts';
import { currentContextManager, spanStartTime } from './otel/sdk-internals.ts';
import { publishBlock } from './report/block-channel.ts';
import { BlockReporter } from './report/block-reporter.ts';
import type { Instruments } from './report/instruments.ts';
import { stallsOfThread } from './stall/stalls.ts';
import { SystemClock } from './support/clock.ts';
import type { EventLoopHealth } from './types.ts';
import { captureTimes } from './watchdog/capture-times.ts';
import { Capturer } from './watchdog/capturer.ts';
import { createSharedMemory } from './watchdog/shared-memory.ts';
import { Watchdog, whyNoCapture } from './watchdog/watchdog.ts';

/** For thresholds below, every callback is timed: the watchdog's timers count whole milliseconds. */
const MIN_RELAXED_THRESHOLD_MILLIS = 20;

/** Where a session sends what it finds. */
export interface SessionTargets {
  tracer(): Tracer;
  instruments(): Instruments;
  /** Called on every beat of the lag sampler. */
  beat(now: number): void;
}

/** Something that is alive while the instrumentation is enabled. */
interface Part {
  start(): void;
  stop(): void;
}

export class Session {
  readonly #parts: readonly Part[];
  readonly #clock = new SystemClock();
  readonly #gc = new GcMeter();
  readonly #health: Health;
  readonly #memory = createSharedMemory();
  readonly #exclusions: Exclusions;
  readonly #ledger: Ledger;
  readonly #reporter: BlockReporter;
  readonly #scopes: ContextScopes;
  readonly #lagSampler: LagSampler;
  readonly #hooks: AsyncHooks | undefined;
  readonly #watchdog: Watchdog | undefined;
  readonly #console: ConsoleReporter | undefined;
  #mode;
  #isReportScheduled = false;
  #finishedIteration = Number.NaN;
  readonly #capturesKnown = new Latch();
