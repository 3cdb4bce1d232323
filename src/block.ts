/** The nouns that the folders share: what was sampled, what blocked, and how far that is known. */
import type { Context } from '@opentelemetry/api';
import type { BlockKind } from './types.ts';

/** A position in code; lines and columns count from 1. */
export interface CodePosition {
  /** Path or URL, as V8 has it; undefined for code without one: builtins, `eval`. */
  readonly file: string | undefined;
  readonly line: number | undefined;
  readonly column: number | undefined;
}

/** One frame of a captured stack. */
export interface StackFrame extends CodePosition {
  /**
   * As V8 names it: `render`, `Report.render`, `new Report`; undefined for an anonymous function.
   */
  readonly functionName: string | undefined;
  /** Where the function begins, in the same file: it distinguishes two functions of one name. */
  readonly functionLine: number | undefined;
  readonly functionColumn: number | undefined;
  /** The file that runs, if this position is one in the source of it. */
  readonly builtFile?: string | undefined;
  /** Characters of the script before this position; V8 counts from 0. */
  readonly offset?: number | undefined;
  /** A caller that awaits what runs: not running code. */
  readonly isAsync: boolean;
  /** Code of this package. */
  readonly isOwn: boolean;
  /** It has only just been called: nothing of it ran yet. */
  readonly isAtEntry: boolean;
  /** Text that `eval`, `new Function` or `vm` runs, without a file or source URL. */
  readonly isEvaluated: boolean;
  /** A function of V8: `Array.map`, `JSON.parse`. */
  readonly isBuiltin: boolean;
  /** Whether it only calls or awaits a function that it was given, if its file was read. */
  readonly passesOn?: boolean;
  /** A line of a stack trace, as V8 writes it. */
  readonly text: string;
}

/** A built-in function that can take long in a single call. */
export interface NativeCall {
  /** As it is written in code: `JSON.parse`. */
  readonly name: string;
  /** Size of its input, in characters, bytes or elements; undefined if it is not known. */
  readonly size: number | undefined;
}

/**
 * What ran at one moment of a busy period. Times are values of `Clock.now()`. What is a getter in a
 * sample that has just been taken is to be read after the block: that takes as long again.
 */
/** A nextTick, or a promise reaction or microtask. */
export type Drain = 'tick' | 'reaction';

/** The async resource that runs, copied in a stack sample and asked later. */
export interface RunningResource {
  readonly asyncId: number;
  /** Its type, as async_hooks names it; undefined if it is not known. */
  type(): string | undefined;
  /** Undefined if it is no part of a drain. */
  drain(): Drain | undefined;
  /** The code that has started the thread or process whose message it receives. */
  sender?(): readonly StackFrame[] | undefined;
}

export interface StackSample {
  /** When the watchdog thread asked for it. */
  readonly requestedAt: number;
  /** When V8 answered: at once in JavaScript, at the end of a native call. */
  readonly time: number;
  readonly context: Context;
  /** Type of the async resource that was running, as async_hooks names it. */
  readonly resourceType: string | undefined;
  /** Its async id. */
  readonly asyncId?: number;
  /** When the code that it has interrupted returned: samples of one run have the same. */
  ranUntil?: number;
  /** What it was if it ran in the drain after a callback. */
  readonly drain?: Drain | undefined;
  /** Innermost first; see `core/explain/name/frame.ts` for deep stacks. */
  readonly frames: readonly StackFrame[];
  /** The wrapped built-in that was running, if one was. */
  readonly nativeCall?: NativeCall | undefined;
}

/** A stack sample, and the milliseconds of a block that it stands for. */
export interface WeightedSample extends StackSample {
  readonly weight: number;
}

/** How long code ran in a context in one block. */
export interface Run {
  readonly context: Context;
  readonly millis: number;
}

/**
 * Time that blocked the event loop for at least the threshold. Times are values of `Clock.now()`.
 */
export interface Block {
  /** Undefined if it cannot be known: without async hooks. */
  readonly kind: BlockKind | undefined;
  readonly start: number;
  readonly end: number;
  readonly callbacks: number;
  /** The context that the block is attributed to; undefined if it is not known. */
  readonly context: Context | undefined;
  readonly resourceType: string | undefined;
  /** Milliseconds of CPU, as `Clock.cpu` counts it. */
  readonly cpu: number;
  /**
   * Milliseconds that are not its own: the thread had no CPU, or waited for one that had none, or
   * the process was stopped. Undefined until it is told.
   */
  readonly lackedCpu?: number | undefined;
  /** The stack samples inside it, in order of time. */
  readonly samples: readonly WeightedSample[];
  /** What ran in it, as far as it is known; contexts of one span are one. */
  readonly ran?: readonly Run[];
  /**
   * Milliseconds that the loop has waited for events since it ended, if its iteration is over.
   */
  readonly waitedSince?: number | undefined;
  /** How long the thread waited for a CPU in it; only in a recording of a test. */
  readonly runDelayMillis?: { readonly atLeast: number; readonly atMost: number } | undefined;
  /** Reporting of this package blocked: metrics count it, and no span is made of it. */
  readonly isOwnWork: boolean;
}

/** What is known of a block that has not ended. */
export type OngoingBlock = Pick<Block, 'kind' | 'start' | 'callbacks' | 'cpu' | 'resourceType'>;

/** A pile-up that has not ended: what ran in this iteration before the running callback. */
export type OngoingPileUp = Pick<Block, 'start' | 'end' | 'cpu' | 'context' | 'ran'>;
