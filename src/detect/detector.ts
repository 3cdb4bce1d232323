/** Puts the parts of detection together for one configuration, and turns them on and off as one. */
import type { AsyncHook } from 'node:async_hooks';
import { executionAsyncResource } from 'node:async_hooks';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import type { Clock } from '../clock.ts';
import { canCountIterations } from '../clock.ts';
import type { OnceLogger } from '../once.ts';
import { currentContextManager, hrTimeToMillis, spanStartTime } from '../otel.ts';
import type { AsyncHooksMode } from '../types.ts';
import { contextOf, resourceTypeOf } from './async-resource.ts';
import { canLeaveOutPromises, createCallbackTimer } from './callback-timer.ts';
import { ContextScopes } from './context-scopes.ts';
import { isDebuggerPause } from './debugger-pause.ts';
import { GcMeter } from './gc-meter.ts';
import { Heartbeat } from './heartbeat.ts';
import { type Block, IterationLedger } from './iteration-ledger.ts';

export interface DetectorOptions {
  thresholdMillis: number;
  lagIntervalMillis: number;
  asyncHooks: AsyncHooksMode | 'auto';
}

export interface DetectorEvents {
  block(block: Block): void;
  lag(millis: number): void;
  /** Once per beat, for whatever needs a look now and then. */
  beat(): void;
}

/** Whether promises can be left out is a property of the Node.js that runs: asked once. */
let promisesCanBeLeftOut: boolean | undefined;

export class Detector {
  readonly gc = new GcMeter();
  readonly mode: AsyncHooksMode;
  readonly #ledger: IterationLedger;
  readonly #scopes: ContextScopes;
  readonly #heartbeat: Heartbeat;
  readonly #hook: AsyncHook | undefined;

  constructor(
    options: DetectorOptions,
    clock: Clock,
    events: DetectorEvents,
    private readonly log: OnceLogger,
  ) {
    const onError = (error: unknown) => log.log('error', 'internal error; detection goes on', error);
    this.mode = this.#resolveMode(options.asyncHooks);
    this.#ledger = new IterationLedger(
      options.thresholdMillis,
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
        if (!isDebuggerPause(block)) events.block(block);
      },
    );
    this.#scopes = new ContextScopes(this.#ledger, clock, onError);
    this.#hook = this.mode === 'off' ? undefined : createCallbackTimer(this.#ledger, this.mode, onError);
    this.#heartbeat = new Heartbeat(this.#ledger, clock, {
      intervalMillis: options.lagIntervalMillis,
      thresholdMillis: options.thresholdMillis,
      hooked: this.#hook !== undefined,
      record: events.lag,
      upkeep: () => {
        clock.syncEpoch();
        this.watchContextManager();
        events.beat();
      },
      onError,
    });
  }

  start(): void {
    this.#guard(() => this.#ledger.reset());
    this.watchContextManager();
    this.#guard(() => this.gc.start());
    // Not in the caller's context, which the timer would keep alive.
    this.#guard(() => context.with(ROOT_CONTEXT, () => this.#heartbeat.start()));
    this.#guard(() => this.#hook?.enable());
  }

  stop(): void {
    this.#guard(() => this.#hook?.disable());
    this.#guard(() => this.#heartbeat.stop());
    this.#guard(() => this.#scopes.release());
    this.#guard(() => this.gc.stop());
    this.#guard(() => this.#ledger.reset());
  }

  /** The context manager may be set after us (NodeSDK does), and may be replaced at any time. */
  watchContextManager(): void {
    this.#guard(() => {
      const manager = currentContextManager();
      if (manager !== undefined) this.#scopes.watch(manager);
    });
  }

  /** The loop has run out of work: reports what no further callback would close. */
  finish(): void {
    if (this.mode === 'off') return;
    this.#guard(() => this.#ledger.finish());
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

  #resolveMode(wanted: AsyncHooksMode | 'auto'): AsyncHooksMode {
    if (wanted === 'off') return 'off';
    if (!canCountIterations) {
      this.log.log(
        'warn',
        'this Node.js cannot count loop iterations (20.18 and 22.8 can): asyncHooks is off',
      );
      return 'off';
    }
    if (wanted !== 'callbacks') return 'promises';
    promisesCanBeLeftOut ??= canLeaveOutPromises();
    if (promisesCanBeLeftOut) return 'callbacks';
    this.log.log(
      'warn',
      "asyncHooks 'callbacks' needs Node.js 24.14 or 25.6: promise hooks cannot be left out",
    );
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
