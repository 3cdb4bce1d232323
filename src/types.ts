/** The public types: what a user configures, and what a user is given. */
import type { Span } from '@opentelemetry/api';

/**
 * What blocked the event loop.
 *
 * - `callback`: one synchronous call: an I/O, timer, immediate or nextTick callback, an event
 *   listener, or one context scope (`context.with`, `startActiveSpan`, a bound function).
 * - `microtasks`: what drained after a callback: promise reactions (one long one or many short
 *   ones) and chains of nextTicks.
 * - `pile-up`: several callbacks of one iteration of the event loop, none of which reaches the
 *   threshold alone.
 */
export type BlockKind = 'callback' | 'microtasks' | 'pile-up';

/**
 * Why the thread was not given a CPU.
 *
 * - `starved`: other processes had the CPU, or its container was out of CPU quota.
 * - `stopped`: it was stopped: SIGSTOP, a frozen container or machine. Outside Linux, `starved` is
 *   reported as this one, if it is noticed.
 */
export type SuspensionReason = 'starved' | 'stopped';

/**
 * The blocking function, which is the place to change: the innermost function of the application's
 * own code that was on the stack for most of the block, else that of its direct dependency.
 * Positions are those of the source if a source map is found: see
 * {@link EventLoopInstrumentationConfig.sourceMaps}.
 */
export interface BlockingCode {
  /**
   * As in a stack trace: `render`, `Report.render`, `new Report`; `<anonymous>` if no function has
   * a name.
   */
  readonly functionName: string;
  /** Path or URL; absent for code made by `eval` or `new Function`. */
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** Where the function begins: this distinguishes two anonymous functions of one file. */
  readonly functionLine?: number;
  readonly functionColumn?: number;
  /**
   * File of the module that the function was loading for most of its time, by `require` or
   * `import()`.
   */
  readonly requires?: string;
  /**
   * The nearest function of the application in another file that has called it for most of its
   * time: `exportOrders (src/orders.js:20)`.
   */
  readonly calledBy?: string;
  /**
   * The stack, one frame a line, as V8 writes it. It has at most 128 frames: frames in the middle
   * of a deeper stack are left out.
   */
  readonly stackTrace: string;
}

/** A function that ran in a block, without its stack. */
export type CodePlace = Omit<BlockingCode, 'stackTrace' | 'requires'>;

/**
 * What took most of a block.
 *
 * - `javascript`: running JavaScript.
 * - `native`: native code that used the CPU: `JSON.parse`, `scryptSync`, a regular expression.
 * - `gc`: garbage collection, and freeing what the collected objects held.
 * - `waiting`: more than half of the time without a CPU, and without wanting one: synchronous I/O
 *   such as `execSync` or `readFileSync`.
 * - `message`: a message of a worker thread or child process was deserialized.
 */
export type BlockCause = 'javascript' | 'native' | 'gc' | 'waiting' | 'message';

/** How much of a block a function ran for, by its stack samples. */
export interface FunctionShare {
  readonly functionName: string;
  /** 0 to 1. */
  readonly share: number;
}

/**
 * One block of the event loop, as `blockHook` gets it. Times are in milliseconds. A field that is
 * not known for a block is absent.
 */
export interface EventLoopBlock {
  /** What blocked the event loop. Absent for code that no scope, hook or stack sample has seen. */
  readonly kind?: BlockKind;
  /** Unix time in milliseconds, with a fraction. */
  readonly startTimeMillis: number;
  /** Exact length of the block. The span may be shorter: see `event_loop.block.duration`. */
  readonly durationMillis: number;
  /**
   * How many callbacks are known to have run in the block; promise reactions are not callbacks. Of
   * a pile-up it is a lower bound: those that stack samples have found.
   */
  readonly callbacks: number;
  /** Type of the async resource whose callback blocked, as `async_hooks` names it. */
  readonly asyncResourceType?: string;
  /**
   * CPU time that the blocked thread used in the block. Needs `process.threadCpuUsage` (Node.js
   * 22.19, 23.9).
   */
  readonly cpuTimeMillis?: number;
  /** Garbage collection in the block. */
  readonly gcTimeMillis?: number;
  /** How many other spans had not ended when the block did. Needs `EventLoopSpanProcessor`. */
  readonly stalledSpans?: number;
  /**
   * How many entry spans (SERVER, CONSUMER, or without a parent in this process) began right after
   * the block, and may have waited for it. Needs `EventLoopSpanProcessor`.
   */
  readonly queuedSpans?: number;
  /**
   * In a recording of `/testing`: how many requests and messages (SERVER, CONSUMER) whose spans
   * ended in it waited for the block. Needs `EventLoopSpanProcessor`.
   */
  readonly stalledRequests?: number;
  /** For how long those of `stalledRequests` waited for the block, added up. */
  readonly stalledMillis?: number;
  /** What took most of the block. */
  readonly cause?: BlockCause;
  /**
   * Time of the block in which JavaScript could not be interrupted: native code, garbage
   * collection, or no CPU. It comes from stack samples; pieces under 3 ms are not in it.
   */
  readonly nativeTimeMillis?: number;
  /** How many stack samples were taken in the block. */
  readonly samples: number;
  /** The blocking function. Absent if no stack sample shows user code. */
  readonly code?: BlockingCode;
  /**
   * The built-in function that ran for most of the block, as it is written in code (`JSON.parse`;
   * `WebAssembly` for the code of a module), and the size of its input in characters, bytes or
   * elements if that is known.
   */
  readonly nativeCall?: { readonly name: string; readonly size?: number | undefined };
  /** What ran innermost for most of the time of `code`, if that is another function. */
  readonly leaf?: CodePlace;
  /**
   * Of a pile-up without `code`: the requests of the operation that took most of it, their share,
   * and how many of them stack samples have found: a lower bound.
   */
  readonly requests?: {
    readonly operation: string;
    readonly count: number;
    readonly share: number;
  };
  /** `true` if `expectBlock` ran the code of the block; absent otherwise. */
  readonly expected?: true;
  /**
   * The functions that ran innermost, the largest share first, at most five. Needs three stack
   * samples that saw a function; a sample that came late counts as two.
   */
  readonly topFunctions?: readonly FunctionShare[];
}

/** A stack of a block, and for how many milliseconds of it that stands. */
export interface SampledStack {
  /** Innermost first. A built-in function that ran is one, too, without a file. */
  readonly frames: readonly SampledFrame[];
  readonly millis: number;
}

/** A frame of a {@link SampledStack}. `file` is empty and a line 0 if it is not known. */
export interface SampledFrame {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly functionLine: number;
  /** The file that runs, if `file` is the source of it. */
  readonly builtFile?: string;
  /** `true` for code of the application itself: see the option `inApp`. Absent otherwise. */
  readonly inApp?: true;
}

/** What a block is attributed to, as far as spans say. */
export interface AttributedRequest {
  /** Route of the request, as in `GET /report`, else the name of the blocking span. */
  readonly operation?: string | undefined;
  /** The ended request that has started what blocked, such as a consumer; then it has no trace. */
  readonly madeBy?: string | undefined;
  readonly traceId?: string | undefined;
}

/** The health of the event loop over the last seconds: what `health()` returns. */
export interface EventLoopHealth {
  /**
   * How long an event that arrived at a random moment of the window waited for the loop, on
   * average, in milliseconds.
   */
  readonly lagMillis: number;
  /** The longest that any event waited, in milliseconds. */
  readonly maxLagMillis: number;
  /**
   * The share of time in which the loop was not waiting for events, 0 to 1. NaN if the runtime does
   * not count it: Bun, Deno, Electron.
   */
  readonly utilization: number;
  /**
   * Milliseconds spent in blocks (`thresholdMillis` or longer) that ended in the window; at most
   * its length.
   */
  readonly blockedMillis: number;
  /**
   * CPU time that this package itself has used, on all of its threads, in milliseconds: as
   * `event_loop.own.duration`, counted once a second.
   */
  readonly ownMillis: number;
}

/**
 * Which async_hooks the instrumentation listens to: see
 * {@link EventLoopInstrumentationConfig.asyncHooks}.
 */
export type AsyncHooksMode = 'auto' | 'always';

/** Which blocks become log events: see {@link EventLoopInstrumentationConfig.blockEvents}. */
export type BlockEventsMode = 'unsampled' | 'all' | 'off';

/**
 * How `GET /livez` is served: see {@link EventLoopInstrumentationConfig.healthServer}. An option
 * that is not given comes from its environment variable.
 */
export interface HealthServerConfig {
  /** The port, a whole number from 1 to 65 535. Without one, nothing is started. */
  port?: number;
  /**
   * The name or address to listen on. The probes of Kubernetes need `0.0.0.0`, or `::`.
   * @default '127.0.0.1'
   */
  host?: string;
  /**
   * For how many milliseconds the event loop may be blocked before the answer is 503, 100 to
   * 3 600 000, without the time in which the main thread had no CPU.
   * @default 30000
   */
  failAfterMillis?: number;
  /**
   * The limit by the clock, time without a CPU included, 100 to 36 000 000; by default ten times
   * `failAfterMillis`.
   * @default 300000
   */
  maxBlockedMillis?: number;
}

/**
 * Options of {@link EventLoopInstrumentation}. Each but the hooks can also be given as the
 * environment variable `OTEL_INSTRUMENTATION_EVENT_LOOP_<OPTION>`, for example
 * `OTEL_INSTRUMENTATION_EVENT_LOOP_THRESHOLD_MILLIS=50`. An option in code takes precedence over
 * the environment, and the environment over the default.
 *
 * For a bad value in code, the constructor and `setConfig` throw: a `TypeError` for a wrong type, a
 * `RangeError` for a value out of range. A bad value in the environment is logged through `diag`
 * and ignored.
 */
export interface EventLoopInstrumentationConfig {
  /**
   * `false` keeps the instrumentation off until its `enable()` is called, also in the list of an
   * SDK.
   * @default true
   */
  enabled?: boolean;
  /**
   * The shortest block that is reported, in milliseconds, 1 to 60 000.
   * @default 100
   */
  thresholdMillis?: number;
  /**
   * How often the lag is sampled, in milliseconds, a whole number from 1 to 1 000.
   * @default 20
   */
  lagIntervalMillis?: number;
  /**
   * A watchdog thread takes stack samples of the blocked event loop, for the place of a block, and
   * for the parent of a chain of promise reactions. `false`: no thread is started.
   * @default true
   */
  captureStack?: boolean;
  /**
   * Which files are the application's own code, whose innermost function names a block. By default,
   * all but Node.js itself, packages (`node_modules`, the caches of yarn and pnpm) and agents.
   *
   * - a list of 1 to 100 paths: only files at or below one of them. Relative paths start at the
   *   working directory; `/` and `\` are the same; a slash at the end names a folder, or a scope. A
   *   package below a path has to be named, too: `['src', 'node_modules/@acme/']`.
   * - a function that returns a boolean, called once for each file, with its path, or with a URL
   *   for code that comes from no file. If it fails, which is logged once, and for an ongoing
   *   block, the default decides.
   *
   * The environment variable takes a list, separated by commas.
   */
  inApp?: readonly string[] | ((file: string) => boolean);
  /**
   * Wraps built-in functions that can take long in a single call, such as `JSON.parse`: a block in
   * one has the caller, the built-in and the size of its input. Needs `captureStack`.
   * @default true
   */
  nativeCalls?: boolean;
  /**
   * Positions are those of the source if a source map is found, also without
   * `--enable-source-maps`.
   * @default true
   */
  sourceMaps?: boolean;
  /**
   * When hooks of `async_hooks` are on. They tell when callbacks begin and end; blocks are found
   * without them.
   *
   * - `'auto'`: while the event loop idles, without promises. Until Node.js 24 only in a process
   *   that has promise hooks in any case, as an `AsyncLocalStorage` brings them. What ran earlier
   *   in the iteration, outside of context scopes, may count as part of the block. Without stack
   *   samples, this is `'always'`.
   * - `'always'`: the start and the end of each callback are exact.
   * @default 'auto'
   */
  asyncHooks?: AsyncHooksMode;
  /**
   * `true`: only blocks that have a parent get a span. Metrics count all blocks.
   * @default false
   */
  requireParentSpan?: boolean;
  /**
   * The most spans in any 60 seconds, a whole number from 0 (none) to 60 000. A function gets at
   * most a tenth of them while others block too. `event_loop.block.suppressed` counts the other
   * blocks.
   * @default 600
   */
  maxSpansPerMinute?: number;
  /**
   * Which blocks become log events, if there is a logger provider.
   *
   * - `'unsampled'`: those without a recorded span: by sampling, by `maxSpansPerMinute` or
   *   `requireParentSpan`, or without an SDK for traces.
   * - `'all'`: also those with a span.
   * - `'off'`: none.
   * @default 'unsampled'
   */
  blockEvents?: BlockEventsMode;
  /**
   * Path of the report page, an HTML file. Written when the process exits, when the instrumentation
   * is disabled and, except on Windows, on SIGURG. `{pid}` stands for the process id; in a worker
   * thread `-worker-<id>` is added to the name.
   */
  reportFile?: string;
  /**
   * Whether the report page has the source lines around what blocked, only of files of the
   * application (see `inApp`) outside `node_modules`.
   * @default true
   */
  reportSource?: boolean;
  /**
   * Path of a file to which each reported block is appended, for a bug report: a line of JSON with
   * the stack samples and times that it was explained from. At 16 MiB the file is renamed to
   * `<path>.1`, in place of an older one. The name is made as that of `reportFile`; processes may
   * share a file.
   */
  recordFile?: string;
  /**
   * `false`: in `recordFile`, functions and the parts of paths are numbered instead of named.
   * @default true
   */
  recordNames?: boolean;
  /**
   * The age in milliseconds, up to 3 600 000, at which an ongoing block is reported: by a line on
   * stderr and, if the process exports by OTLP, by a span or a log event; never before the first
   * stack sample, at half of the threshold. 0 turns it off. Needs `captureStack`.
   * @default 5000
   */
  unfinishedAfterMillis?: number;
  /**
   * A thread answers `GET /livez` over HTTP, also while the event loop is blocked: with 503 if it
   * has been for `failAfterMillis`, else with 200. Off without a port, and in worker threads.
   */
  healthServer?: HealthServerConfig;
  /**
   * For development, without an SDK: a line on stderr for each block, and a summary when the
   * process exits or, except on Windows, gets SIGURG.
   *
   * - `true`: lines for people.
   * - `'json'`: JSON objects, one a line, by the package's `console.schema.json`.
   * @default false
   */
  console?: boolean | 'json';
  /**
   * Called with each span before it ends, to add or replace attributes, and for each log event,
   * with an object on which only `setAttribute` and `setAttributes` have an effect, and which has
   * the ids of the blocking span; not for an ongoing block. What it throws is logged.
   */
  blockHook?: (span: Span, block: EventLoopBlock) => void;
  /**
   * A block for which it returns `true` gets neither a span nor an event nor a line of `console`;
   * metrics and `health()` count it, and a span that it stalled may have a link to it. It is not
   * called for an ongoing block. What it throws is logged, and counts as `false`.
   */
  ignoreBlockHook?: (block: EventLoopBlock) => boolean;
}
