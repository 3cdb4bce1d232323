/**
 * Reporting: blocks get the names of their code, and are given to everything that is emitted.
 */
import type { Block } from '../../block.ts';
import { sdkOf } from '../../otel/sdk-internals.ts';
import { SdkShutdown } from '../../otel/sdk-shutdown.ts';
import type { RunningOutput } from '../../outputs/output.ts';
import { OUTPUTS } from '../../outputs/outputs.ts';
import { canCountIterations } from '../../support/clock.ts';
import { workingFolder } from '../../support/files.ts';
import { attempt } from '../../support/guard.ts';
import { listen, unlisten } from '../../support/process-listeners.ts';
import { setImmediate } from '../../support/time.ts';
import { createWorkersPart } from '../../threads/workers/workers-part.ts';
import { PACKAGE_NAME, PACKAGE_VERSION } from '../../version.ts';
import { createBlockChannel } from '../emit/block-channel.ts';
import { BlockEvents } from '../emit/block-event.ts';
import { BlockMetrics } from '../emit/block-metrics.ts';
import { BlockReporter } from '../emit/block-reporter.ts';
import { BlockSpans } from '../emit/block-span.ts';
import type { Emitter } from '../emit/emitter.ts';
import { UserHooks } from '../emit/user-hooks.ts';
import { Explainer } from '../explain/explainer.ts';
import { createOriginOf, type OriginOf } from '../explain/name/in-app.ts';
import { createStalls } from '../stalls/session-stalls.ts';
import type { Common, Part } from './common.ts';
import type { Detection } from './detection.ts';

/** A process that ends waits for source maps for this time at most. */
const EXIT_WAIT_MILLIS = 100;

export function createReporting(common: Common, detection: Detection) {
  const { config, clock, guard, log, targets, onHookError } = common;
  const { ledger, own } = detection;
  const asOwnWork = (work: () => void) => ledger.asOwnWork(() => own.run(work));
  // The immediate is not unref'd: a process that ends right after a block still reports it.
  const schedule = (work: () => void): void =>
    void setImmediate(() =>
      attempt(() => guard.run('cannot report blocks', () => asOwnWork(work)), onHookError),
    );
  const stalls = createStalls({
    guard,
    clock,
    ledger,
    exclusions: detection.exclusions,
    tickId: detection.tickId,
    isConsoleOnly: targets.isConsoleOnly === true,
    instruments: () => targets.instruments(),
    schedule,
    report: () => reportAll(),
    settle: () => settle(),
  });
  const collections = (from: number, until: number) => detection.gc.collections(from, until);
  const originOf = createOriginOf({
    ...common.origin,
    inApp: config.inApp,
    onError: (error) => log.log('error', 'inApp threw or returned no boolean', error),
  });
  const explainer = createExplainer(common, detection, originOf, schedule, asOwnWork);
  const emitters = createEmitters(common);
  const reporter = new BlockReporter(
    {
      schedule,
      gcWithin: (start, end) => detection.gc.within(start, end),
      turnsToWait: stalls.turnsToWait,
    },
    emitters,
    explainer.explain,
    clock,
    log,
  );

  const report = (): void => {
    guard.run('cannot report blocks', () => asOwnWork(() => reporter.report()));
    guard.run('cannot report blocks', stalls.report);
  };
  const reportWithin = (millis: number): void => {
    report();
    guard.run('cannot report blocks', () => explainer.settle(millis));
    guard.run('cannot report blocks', stalls.settle);
    log.catchUp();
  };
  let settledIteration = Number.NaN;
  const settleAll = (): void => {
    guard.run('cannot report blocks', () => {
      // An iteration is closed once: what comes after is Node.js ending threads, no block.
      const iteration = canCountIterations ? clock.loopCount() : Number.NaN;
      if (iteration !== settledIteration) ledger.finish();
      settledIteration = iteration;
    });
    guard.run('cannot record a metric', () => detection.finish());
    reportWithin(EXIT_WAIT_MILLIS);
  };
  const settle = () => void attempt(settleAll, onHookError);

  const reportAll = async (): Promise<void> => {
    report();
    await explainer.settled();
    // The functions that spans have waited for are known now.
    guard.run('cannot report blocks', stalls.report);
  };

  const workers = createWorkersPart({
    guard,
    ledger,
    log,
    watchdogMemory: common.capture?.memory,
    reportNow: () => reportWithin(EXIT_WAIT_MILLIS),
  });
  const sources = { ...common.origin, inApp: config.inApp, collections };
  emitters.others.push(createBlockChannel(originOf, sources));

  const isWaiting = () => reporter.isWaiting || explainer.isWaiting;
  const flush = () => (isWaiting() ? reportAll() : undefined);
  const shutdown = new SdkShutdown(settle, flush, onHookError);
  const watchProvider = () =>
    guard.run('cannot watch the SDK', () => {
      const provider = targets.tracerProvider?.();
      if (provider !== undefined) shutdown.watch(provider);
    });
  const addBlock = (ended: Block): void => {
    const block = common.options.isRecording
      ? { ...ended, runDelayMillis: detection.exclusions.runDelayIn(ended) }
      : ended;
    const found = 'cannot find stalled spans';
    const spans = guard.run(found, () => stalls.spansAt(ended));
    const span = reporter.add(block, spans?.stalledSpans);
    guard.run(found, () => spans?.add(span));
  };
  detection.listeners.push({ upkeep: stalls.upkeep }, { upkeep: watchProvider, block: addBlock });

  const outputs: RunningOutput[] = [];
  const outputSession = { config, log, settle, loop: detection.loop };
  return {
    parts: [
      {
        start: () => {
          for (const output of OUTPUTS) {
            const running = guard.run('cannot start every part; the others are started', () =>
              output(outputSession),
            );
            if (running !== undefined) outputs.push(running);
          }
        },
        stop: () => {
          for (const output of outputs.splice(0).reverse())
            guard.run('cannot stop every part; the others are stopped', () => output.stop());
        },
      },
      explainer,
      {
        start: () => {
          listen('beforeExit', settle);
          listen('exit', settle);
        },
        stop: () => {
          unlisten('beforeExit', settle);
          unlisten('exit', settle);
        },
      },
      workers,
      stalls,
      // What has ended is told before the outputs stop.
      { stop: () => reportWithin(0) },
      { start: watchProvider, stop: () => shutdown.release() },
    ] satisfies Part[],
    /** Reports the blocks that have ended. Resolves when all of them are reported. */
    report: reportAll,
    /** Reports everything now, the running callback included. Never throws. */
    settle,
    /** The SDK may be set after us (NodeSDK does), and replaced at any time. */
    watchProvider,
    /** The process ends by a signal, without an `exit` event. */
    endBySignal: () => {
      for (const output of outputs)
        guard.run('cannot write the report page', () => output.endBySignal?.());
    },
  };
}

function createEmitters({ config, clock, log, targets }: Common) {
  const hooks = new UserHooks(config, log);
  const metrics = new BlockMetrics(() => targets.instruments(), log);
  const tracer = () => targets.tracer();
  const sdkTracer = () => {
    const provider = targets.tracerProvider?.();
    return provider === undefined
      ? tracer()
      : sdkOf(provider).getTracer(PACKAGE_NAME, PACKAGE_VERSION);
  };
  const spans = new BlockSpans(config, tracer, hooks, metrics, clock, sdkTracer);
  const others: Emitter[] = [new BlockEvents(config.blockEvents, () => targets.logger(), hooks)];
  return { metrics, spans, others };
}

function createExplainer(
  { config, log, options, origin }: Common,
  { gc, own }: Detection,
  originOf: OriginOf,
  schedule: (work: () => void) => void,
  asOwnWork: (work: () => void) => void,
): Explainer {
  const { inApp, recordFile, sourceMaps } = config;
  const explainer = new Explainer(
    {
      originOf,
      origin,
      asksOrigins: typeof inApp === 'function',
      cwd: workingFolder(),
      hasMaps: sourceMaps,
      isRecorded: recordFile !== undefined,
      mayName: options.isRecording ? () => true : own.mayName,
      asNaming: own.name,
      collections: (from, until) => gc.collections(from, until),
      schedule,
      asOwnWork,
    },
    log,
  );
  own.addThread(() => explainer.ranMillis);
  return explainer;
}
