/**
 * An extra is a folder beside detect → sample → name → report. It subscribes to what these find,
 * and imports no other extra. `extras.ts` lists them: without its lines there, and those in
 * `thread-extras.ts`, the folder can be deleted (`npm run check -- extras` does it).
 */
import type { Span } from '@opentelemetry/api';
import type { Block } from './block.ts';
import type { ResolvedConfig } from './config.ts';
import type { Exclusions } from './detect/exclude/exclusions.ts';
import type { RunDelay } from './detect/exclude/run-delay.ts';
import type { Ledger } from './detect/ledger.ts';
import type { Call } from './detect/running-code.ts';
import type { OriginOptions } from './name/in-app.ts';
import type { OnceLogger } from './otel/diag-once.ts';
import type { BlockLink } from './report/block-link.ts';
import type { Emitter } from './report/emitter.ts';
import type { Instruments } from './report/instruments.ts';
import type { OngoingReport, WatchdogData } from './sample/protocol.ts';
import type { SharedMemory } from './sample/shared-memory.ts';
import type { ThreadKeeperClass } from './sample/watchdog-thread.ts';
import type { Clock } from './support/clock.ts';
import type { Guard } from './support/guard.ts';

export interface Extra {
  /** Called once for each session. Undefined if the options do not ask for it. */
  inSession?(session: SessionView): SessionExtra | undefined;
  /** The class that keeps the watchdog thread of a worker thread. */
  readonly WorkerWatchdog?: ThreadKeeperClass;
  /** The span of this process around `span`; undefined if it does not know. */
  parentOf?(span: Span): Span | undefined;
  /** Calls to that port, open or ended lately. */
  callsTo?(port: number): Call[];
}

/** An extra in the watchdog thread. */
export interface ThreadExtra {
  /** Returns the function that reports the ongoing blocks of one watched thread. */
  reportOngoing?(data: WatchdogData): (report: OngoingReport) => void;
  /** What the thread is started with is for this extra: watches other threads than the main one. */
  watchOthers?(workerData: WatchdogData | object, uses: ReportOngoing): void;
}

export type ReportOngoing = NonNullable<ThreadExtra['reportOngoing']>;

/** Something that is alive while the instrumentation is enabled. */
export interface Part {
  start?(): void;
  stop?(): void;
}

/** The lag timer and the ledger call these. */
export interface LoopListener {
  /** Now and then, in a beat of the lag timer: every 100 ms, or when one comes. */
  upkeep?(now: number): void;
  /** The lag timer is armed: as long as the loop turns, the next beat comes at `due`. */
  armed?(due: number): void;
  /** The loop idles from now on. */
  idle?(): void;
  /** The loop works again. */
  wake?(): void;
  /** A block of the application's has ended. */
  block?(block: Block): void;
}

/** The facts that an extra adds to the report of a block that has just ended. */
export interface SpansAtBlock {
  /** How many other spans were open, and stalled; undefined if that is not known. */
  readonly stalledSpans: number | undefined;
  /** The block is going to be reported. */
  add(span: Pick<BlockLink, 'spanContext' | 'addQueued' | 'onReported'>): void;
}

/** An extra in one session. All of it is optional. */
export interface SessionExtra extends Part, Partial<Emitter>, LoopListener {
  /** For the data that the watchdog thread is started with. */
  threadData?(): Partial<Pick<WatchdogData, 'env' | 'ongoing' | 'unfinishedAfterMillis'>>;
  /** A block has ended. Undefined if nothing is known of the spans then. */
  spansAt?(block: Block): SpansAtBlock | undefined;
  /** See the ports of `BlockReporter`. */
  turnsToWait?(): number;
  /** Blocks are reported now: counts what is known of what it has collected. */
  report?(): void;
  /** Everything is reported, and no more becomes known of it: counts the rest. */
  settle?(): void;
  /** The process ends by a signal, without an `exit` event. */
  endBySignal?(): void;
}

/** The parts of its session that an extra is given. */
export interface SessionView {
  readonly config: ResolvedConfig;
  readonly log: OnceLogger;
  readonly guard: Guard;
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly exclusions: Pick<Exclusions, 'isSuspended'>;
  readonly runDelay: Pick<RunDelay, 'schedstat'>;
  /** Async id of the next tick: what was made since the latest one has a larger one. */
  readonly tickId: () => number;
  /** Lets another thread read the samples of the lag: see `Health.share`. */
  readonly shareHealth: () => Int32Array;
  /** Undefined if stack samples cannot be taken. */
  readonly watchdogMemory: SharedMemory | undefined;
  /** Which code is the application's own; not by a function of the application. */
  readonly origin: OriginOptions;
  /** Nothing is exported. */
  readonly isConsoleOnly: boolean;
  instruments(): Instruments;
  /** Own work, in a turn of the loop that comes soon. */
  schedule(work: () => void): void;
  /** Reports the blocks that have ended. Resolves when all of them are reported; never rejects. */
  report(): Promise<void>;
  /** The same at once: waits for the thread that explains, for 100 ms at most. */
  reportNow(): void;
  /** Reports everything now, the running callback included. */
  settle(): void;
}
