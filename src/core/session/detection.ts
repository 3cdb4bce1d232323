/**
 * Detection: ticks, scopes, callbacks and the lag timer become blocks, and what is not the
 * application's is left out. It tells its listeners, and knows none of them.
 */
import { type Context, type HrTime, ROOT_CONTEXT, type Span } from '@opentelemetry/api';
import type { Block } from '../../block.ts';
import { lags } from '../../channels.ts';
import { activeContext, contextOfAnswer } from '../../otel/active-context.ts';
import { hrTimeToMillis } from '../../otel/hr-time.ts';
import {
  clockStepOf,
  currentContextManager,
  spanEndTime,
  spanStartTime,
} from '../../otel/sdk-internals.ts';
import type { LoopProbe } from '../../outputs/output.ts';
import { type Clock, canCountIterations } from '../../support/clock.ts';
import { launches } from '../../support/launches.ts';
import { type Schedstat, threadFolder } from '../../support/schedstat.ts';
import { listenForSignalsAgain } from '../../support/signal-listener.ts';
import type { EventLoopHealth } from '../../types.ts';
import { Exclusions } from '../record/exclude/exclusions.ts';
import { RunDelay } from '../record/exclude/run-delay.ts';
import { Suspensions } from '../record/exclude/suspensions.ts';
import { GcMeter } from '../record/gc-meter.ts';
import { CallbackHook, mayHook, resolveHooksMode } from '../record/hooks/callback-hook.ts';
import { ContextScopes } from '../record/hooks/context-scopes.ts';
import { messageSenders } from '../record/hooks/message-senders.ts';
import {
  contextOf,
  resourceTypeOf,
  runningDrain,
  runningResource,
  timerAsyncId,
} from '../record/hooks/resource-classes.ts';
import { Tick } from '../record/hooks/tick.ts';
import { Health } from '../record/lag/health.ts';
import { EmptyTimer, LagSampler } from '../record/lag/lag-sampler.ts';
import { Ledger } from '../record/ledger.ts';
import { callStack, emptyCallStack } from '../record/native/call-stack.ts';
import { RunEnds } from '../record/run-ends.ts';
import type { RunningCode } from '../record/running-code.ts';
import type { CaptureTimes } from '../sample/capture-times.ts';
import { delayOfOthers, othersDelay } from '../sample/other-threads.ts';
import { Sleeping, Word } from '../sample/shared-memory.ts';
import type { Used } from './budget.ts';
import type { Common, LoopListener, Part } from './common.ts';
import { type OwnSink, OwnTime } from './own-time.ts';

/** Each scope is timed below this threshold: the watchdog's timers count whole milliseconds. */
const MIN_MARKED_THRESHOLD_MILLIS = 20;

export interface Detection {
  readonly parts: readonly Part[];
  readonly ledger: Ledger;
  readonly exclusions: Exclusions;
  /** Records what is left of the metrics. */
  finish(): void;
  readonly runDelay: RunDelay;
  readonly own: OwnTime;
  readonly gc: GcMeter;
  readonly loop: LoopProbe;
  readonly tickId: () => number;
  readonly runEnds: RunEnds;
  /** They are told in this order. */
  readonly listeners: LoopListener[];
  /** The watchdog thread's notes of suspensions count only while it watches. */
  watch(isWatching: boolean): void;
  /** There are no stack samples until `watch(true)`. */
  samplesLost(): void;
  /** The context manager may be set after us (NodeSDK does), and replaced at any time. */
  watchContextManager(): void;
  health(windowMillis: number): EventLoopHealth | undefined;
}

export function createDetection(common: Common, times: CaptureTimes): Detection {
  const { config, clock, guard, log, targets, onHookError } = common;
  const { thresholdMillis, lagIntervalMillis } = config;
  const canCapture = common.capture !== undefined;
  const memory = common.capture?.memory;
  const mode = resolveHooksMode(config.asyncHooks, canCapture, log);

  const listeners: LoopListener[] = [];
  let onArmed: ((due: number) => void) | undefined;
  let isWatched = false;
  const watchedMemory = () => (isWatched ? memory : undefined);

  const launched = launches();
  const health = new Health(clock, lagIntervalMillis);
  const gc = new GcMeter();
  const folder = threadFolder();
  /** Until the watchdog thread watches for the first time, and if it will. */
  let othersAtStart = Number.NaN;
  const runDelay = new RunDelay(clock, undefined, memory);
  const own = new OwnTime(
    runDelay.schedstat,
    () => usedSoFar(clock, runDelay.schedstat),
    memory && {
      allow: (samples) => {
        if (!common.options.isRecording) Atomics.store(memory.words, Word.allowed, samples);
      },
      takeSkipped: () => Atomics.exchange(memory.words, Word.skipped, 0),
    },
  );
  if (memory !== undefined) own.addThread(() => memory.sleep.get(Sleeping.ran));
  const ownSink: OwnSink = {
    own: (millis, thread) => {
      health.own(millis);
      targets.instruments().own(millis, thread);
    },
    skipped: (count, step) => targets.instruments().skipped(count, step),
  };
  const exclusions = new Exclusions(thresholdMillis, watchedMemory, runDelay, () => {
    const watched = watchedMemory();
    if (watched !== undefined) return othersDelay(watched, folder);
    return Math.max(0, delayOfOthers(folder) - othersAtStart) || 0;
  });
  const suspensions = new Suspensions(
    clock,
    {
      runDelay,
      memory: watchedMemory,
      preemptions: () => process.resourceUsage().involuntaryContextSwitches,
    },
    (millis, reason) => targets.instruments().suspension(millis, reason),
  );

  /** False if a part is no block but a suspension: the code around it may still be one. */
  const onBlock = (block: Block): boolean => {
    const suspended = exclusions.suspendedIn(block, block.samples);
    const { start, end } = block;
    guard.run('cannot measure suspensions', () =>
      suspensions.addSlept(start, end, suspended.sleptForOthers),
    );
    if (exclusions.isShort(block, suspended)) return false;
    guard.run('cannot count a block', () => health.block(end - start));
    const told = { ...block, lackedCpu: suspended.millis, context: contextOfBlock(block) };
    for (const listener of listeners) listener.block?.(told);
    return true;
  };
  const ledger = new Ledger(
    { thresholdMillis, beatMillis: lagIntervalMillis },
    clock,
    runningCode(common, runDelay),
    onBlock,
    memory,
  );

  const runEnds = new RunEnds(clock, ledger, onHookError);
  const scopes = new ContextScopes(ledger, clock, log.faults);
  const watchContextManager = () =>
    guard.run('cannot watch the context manager', () => {
      const manager = currentContextManager();
      if (manager !== undefined) scopes.watch(manager);
    });

  const noLag = (t: number, due: number, waited = 0): number => {
    const sample = () => suspensions.sample(t, due, waited);
    return guard.run('cannot measure suspensions', sample) ?? waited;
  };
  // A timer for thresholds that the lag sampler is too slow for. With it, the loop never idles.
  const needsTimer = canCapture && times.pulseMillis < lagIntervalMillis;
  const emptyTimer = needsTimer ? new EmptyTimer(times.pulseMillis) : undefined;
  const lagSampler = new LagSampler(ledger, clock, {
    intervalMillis: lagIntervalMillis,
    canIdle: () => emptyTimer === undefined && mayHook(mode),
    noLag,
    record: (millis, samples) => {
      guard.run('cannot read the health of the event loop', () => health.lag(millis, samples));
      // A launcher's lag would be mixed with the application's.
      const instruments = launched.isLauncher ? undefined : targets.instruments();
      for (let i = 0; i < samples; i++) instruments?.lag(millis);
      if (lags.hasSubscribers) {
        const busyMillis = clock.now() - clock.waited();
        lags.publish({ lagMillis: millis, samples, busyMillis });
      }
    },
    upkeep: () => {
      const now = clock.now();
      clock.syncEpoch();
      gc.upkeep();
      watchContextManager();
      for (const listener of listeners) listener.upkeep?.(now);
      listenForSignalsAgain();
      targets.upkeep();
      guard.run('cannot record a metric', () => own.record(ownSink));
      log.catchUp();
    },
    idle: () => {
      hook?.switch();
      for (const listener of listeners) listener.idle?.();
    },
    wake: (runsSince, due) => {
      // Not in a beat, which has no `due` here: the loop has waited until now.
      if (!Number.isNaN(due)) ledger.finish();
      for (const listener of listeners) listener.wake?.();
      // A beat, which has no `due` here, has called `noLag` itself.
      if (!Number.isNaN(due)) noLag(runsSince, due);
    },
    armed: (due) => onArmed?.(due),
    onError: onHookError,
  });

  /** Hot: once per iteration, between what runs before and after it. */
  const tick = canCountIterations
    ? new Tick(
        () => {
          try {
            // Code that V8 has ended half-way (`vm` with a timeout) is not running any more.
            if (callStack.depth !== 0) emptyCallStack();
            ledger.tick();
            hook?.tick();
          } catch (error) {
            log.faults.inHook ??= error;
          }
        },
        () =>
          guard.run('cannot end the start-up', () => {
            ledger.endStartup();
            // The main script may have set a context manager, which has promise hooks.
            hook?.switch();
          }),
      )
    : undefined;
  const hook =
    mode === undefined
      ? undefined
      : new CallbackHook(ledger, lagSampler, () => tick?.resource, mode, log.faults);

  return {
    parts: [
      health,
      { start: () => ledger.reset(), stop: () => ledger.reset() },
      { start: watchContextManager, stop: () => scopes.release() },
      gc,
      lagSampler,
      emptyTimer ?? {},
      suspensions,
      {
        start: () => {
          if (canCapture) othersAtStart = delayOfOthers(folder);
        },
      },
      runEnds,
      messageSenders,
      tick ?? {},
      hook ?? {},
    ],
    ledger,
    exclusions,
    finish: () => {
      suspensions.finish();
      own.record(ownSink, true);
    },
    runDelay,
    own,
    gc,
    loop: {
      watchdog: memory,
      times: runDelay.schedstat,
      onArmed: (listener) => {
        onArmed = listener;
      },
    },
    tickId: () => timerAsyncId(tick?.resource),
    runEnds,
    listeners,
    watch: (isWatching) => {
      isWatched = isWatching;
      if (isWatching) othersAtStart = Number.NaN;
      ledger.watch(isWatching && thresholdMillis >= MIN_MARKED_THRESHOLD_MILLIS);
      hook?.watch(isWatching);
    },
    samplesLost: () => {
      othersAtStart = Number.NaN;
      ledger.watch(false);
      hook?.watch(false);
    },
    watchContextManager,
    health: (windowMillis) =>
      guard.run('cannot read the health of the event loop', () =>
        health.read(windowMillis, lagSampler.overdue()),
      ),
  };
}

/** Without an SDK, and async_hooks, it is not known in whose context a promise goes on. */
function contextOfBlock({ context, kind, start, end }: Block): Context | undefined {
  const isKnown = context !== undefined && context !== ROOT_CONTEXT;
  return isKnown || kind === 'pile-up' ? context : (contextOfAnswer(start, end) ?? context);
}

// Taken once: it is called in stack samples, and an application may replace it.
const cpuUsage = process.cpuUsage.bind(process);

function usedSoFar(clock: Clock, schedstat: Schedstat): Used {
  const { user, system } = cpuUsage();
  const hadCpu = schedstat.read() ? clock.now() - schedstat.waited : Number.NaN;
  return { cpu: (user + system) / 1e3, busy: hadCpu - clock.waited() };
}

function runningCode({ clock, parentOf, callsTo }: Common, runDelay: RunDelay): RunningCode {
  const timeOf = (span: Span, time: HrTime | undefined) =>
    time === undefined ? Number.NaN : hrTimeToMillis(time) + clockStepOf(span, clock);
  return {
    context: () => contextOf(runningResource()),
    active: activeContext,
    resourceType: () => resourceTypeOf(runningResource()),
    drain: runningDrain,
    spans: {
      startOf: (span) => timeOf(span, spanStartTime(span)),
      endOf: (span) => timeOf(span, spanEndTime(span)),
      parentOf,
      callsTo,
    },
    threadTimes: runDelay.within.bind(runDelay),
  };
}
