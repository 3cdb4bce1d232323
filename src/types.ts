/** The public types: what a user configures, and what a user is given. */
import type { Span } from '@opentelemetry/api';

/**
 * What blocked the event loop.
 *
 * - `callback`: one synchronous call: an I/O, timer, immediate or nextTick callback, an event
 *   listener, or one context scope (`context.with`, `startActiveSpan`, a bound function).
 * - `microtasks`: what drained after a callback: promise reactions (one long one or many short
 *   ones) and chains of nextTicks.
 * - `pile-up`: several callbacks of one loop iteration, none of which reaches the threshold alone.
 */
export type BlockKind = 'callback' | 'microtasks' | 'pile-up';

/**
 * Why the thread was not given a CPU.
 *
 * - `throttled`: its container was out of CPU quota.
 * - `starved`: other processes had the CPU.
 * - `stopped`: it was stopped: SIGSTOP, a frozen container or machine. Outside Linux, the other two
 *   reasons are reported as this one, where they are noticed.
 */
export type SuspensionReason = 'throttled' | 'starved' | 'stopped';

/**
 * The blocking function. Positions are those of the source where a source map is found: see
 * {@link EventLoopInstrumentationConfig.sourceMaps}.
 */
export interface BlockingCode {
  /**
   * As in a stack trace: `render`, `Report.render`, `new Report`; `<anonymous>` where nothing has a
   * name.
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
   * The stack, one frame a line, as V8 writes it. It has at most 128 frames: of a deep stack,
   * frames in the middle are left out.
   */
  readonly stackTrace: string;
}

/** A function that ran in a block, without its stack. */
export type CodePlace = Omit<BlockingCode, 'stackTrace' | 'requires'>;

/**
 * What took most of a block.
 *
 * - `javascript`: running JavaScript.
 * - `native`: native code that used the CPU, which cannot be interrupted: `JSON.parse`,
 *   `scryptSync`.
 * - `gc`: garbage collection, and freeing what the collected objects held.
 * - `waiting`: more than half of the time without a CPU, and without wanting one: synchronous I/O
 *   such as `execSync` or `readFileSync`.
 */
export type BlockCause = 'javascript' | 'native' | 'gc' | 'waiting';

/** How much of a block a function ran for, by its stack samples. */
export interface FunctionShare {
  readonly functionName: string;
  /** 0 to 1. */
  readonly share: number;
}

/** One block of the event loop, as `blockHook` gets it. Times are in milliseconds. */
export interface EventLoopBlock {
  /** Absent where it cannot be known: with `asyncHooks: 'off'`, outside every context scope. */
  readonly kind?: BlockKind;
  /** Unix time in milliseconds, with a fraction. */
  readonly startTimeMillis: number;
  /**
   * Exact length of the block; the span is shorter where its parent started later than the block,
   * and has the length as `event_loop.block.duration` then.
   */
  readonly durationMillis: number;
  /** How many callbacks ran in the block; promise reactions are not callbacks. */
  readonly callbacks: number;
  /** Type of the async resource whose callback blocked, as `async_hooks` names it, where known. */
  readonly asyncResourceType?: string;
  /**
   * CPU time the blocked thread spent inside the block. Needs `process.threadCpuUsage` (Node.js
   * 22.19, 23.9).
   */
  readonly cpuTimeMillis?: number;
  /** Garbage collection inside the block. */
  readonly gcTimeMillis?: number;
  /** How many other spans had not ended when the block did. Needs `EventLoopSpanProcessor`. */
  readonly stalledSpans?: number;
  /**
   * How many entry spans (SERVER, CONSUMER, or without a parent in this process) began right after
   * the block, and may have waited for it. Needs `EventLoopSpanProcessor`.
   */
  readonly queuedSpans?: number;
  /**
   * How many entry spans (SERVER, CONSUMER) it stalled that ended in the same recording of
   * `/testing`; absent elsewhere. Needs `EventLoopSpanProcessor`.
   */
  readonly stalledRequests?: number;
  /** For how long they were stalled by it, added up. */
  readonly stalledMillis?: number;
  /** What took most of the block. Absent where that is not known. */
  readonly cause?: BlockCause;
  /**
   * Time of the block in which JavaScript could not be interrupted: native code, garbage
   * collection, or no CPU. From stack samples; pieces under 3 ms are not in it.
   */
  readonly nativeTimeMillis?: number;
  /** How many stack samples were taken in the block. */
  readonly samples: number;
  /**
   * The place to change: the innermost function of the application's own code on the stack for most
   * of the block; where there is none, that of its direct dependency. Absent where no stack sample
   * has user code.
   */
  readonly code?: BlockingCode;
  /**
   * The built-in function that ran for most of the block, as it is written in code (`JSON.parse`;
   * `WebAssembly` for the code of a module), and the size of its input in characters, bytes or
   * elements where that is known.
   */
  readonly nativeCall?: { readonly name: string; readonly size?: number | undefined };
  /** What ran innermost for most of the time of `code`, where that is another function. */
  readonly leaf?: CodePlace;
  /** The block is of code that `expectBlock` ran; absent on all others. */
  readonly expected?: true;
  /**
   * The innermost functions, the largest share first, at most five. Only where there were three
   * stack samples or more; a sample that came late counts as two.
   */
  readonly topFunctions?: readonly FunctionShare[];
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
   * The share of time in which the loop was not waiting for events, 0 to 1. NaN where the runtime
   * does not count it: Bun, Deno, Electron.
   */
  readonly utilization: number;
  /**
   * Milliseconds spent in blocks (`thresholdMillis` or longer) that ended in the window; at most
   * its length.
   */
  readonly blockedMillis: number;
}

/** A function, and its share of the time in which the loop was busy. */
export interface LoopFunction extends Partial<CodePlace> {
  /** The built-in function that it called, as it is written in code: `JSON.parse`. */
  readonly nativeCall?: string;
  /** 0 to 1. */
  readonly share: number;
}

/** The operation for which code ran, and its share of the time in which the loop was busy. */
export interface LoopOperation {
  /**
   * `GET /list` where the entry span has a route, the operation of GraphQL, else the name of the
   * entry span. Absent where code ran outside of every span.
   */
  readonly name?: string;
  readonly httpRoute?: string;
  /** 0 to 1. */
  readonly share: number;
}

/**
 * Which functions and operations used the event loop over the last minutes, by stack samples at
 * random moments: what `loopProfile()` returns.
 */
export interface LoopProfile {
  /** Length of the period that the profile covers, in milliseconds. */
  readonly elapsedMillis: number;
  /** The share of the period in which the loop was not waiting for events, 0 to 1. */
  readonly utilization: number;
  /**
   * How many stack samples the shares come from: with 100, the standard deviation of a share of 0.5
   * is 0.05.
   */
  readonly samples: number;
  /**
   * By function, as blocks are named; the largest share first, at most 50. Without a
   * `functionName`: code of Node.js itself, or not known.
   */
  readonly functions: readonly LoopFunction[];
  /** By operation; the largest share first, at most 50. */
  readonly operations: readonly LoopOperation[];
}

/** When the loop profile is made: see {@link EventLoopInstrumentationConfig.loopProfile}. */
export type LoopProfileMode = 'busy' | 'always' | 'off';

/**
 * Which async_hooks the instrumentation listens to: see
 * {@link EventLoopInstrumentationConfig.asyncHooks}.
 */
export type AsyncHooksMode = 'callbacks' | 'promises' | 'off';

/** Which blocks become log events: see {@link EventLoopInstrumentationConfig.blockEvents}. */
export type BlockEventsMode = 'unsampled' | 'all' | 'off';

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
   * `false` keeps the instrumentation off until its `enable()` is called, also when it is
   * registered with `NodeSDK` or `registerInstrumentations`.
   * @default true
   */
  enabled?: boolean;
  /**
   * The shortest block that is reported, in milliseconds, 1 to 60 000.
   * @default 100
   */
  thresholdMillis?: number;
  /**
   * How often the lag is sampled, in whole milliseconds, 1 to 1 000.
   * @default 20
   */
  lagIntervalMillis?: number;
  /**
   * Have a watchdog thread take stack samples of the code that blocks, with its context: the span
   * names function, file and line, and the parent of a chain of promise reactions is known without
   * promise hooks. This works in worker threads, too. `false`: no thread is started.
   * @default true
   */
  captureStack?: boolean;
  /**
   * Which files are the application's own code: a block is named by the innermost function of the
   * application on the stack. By default, that is everything except Node.js itself, packages
   * (`node_modules`, the caches of yarn and pnpm), the wrappers of agents and this package.
   *
   * - a list of 1 to 100 paths: what lies at or below one of them, and nothing else, is the
   *   application's. Relative paths start at the working directory; `/` and `\\` are the same. A
   *   `node_modules` below such a path is not included; to include a package, name it:
   *   `['src', 'node_modules/@acme/']`. A path with a slash at its end is a folder, or a scope.
   * - a function that is given a path, or a URL for code that comes from no file, once per file. An
   *   error that it throws, or a result that is not a boolean, is logged through `diag` once, and
   *   the default decides. It is not called in the middle of a block: where a block is reported
   *   that has not ended, the default decides too.
   *
   * The environment variable takes a list, separated by commas.
   */
  inApp?: readonly string[] | ((file: string) => boolean);
  /**
   * Built-in functions that can take long in a single call (`JSON.parse`, `structuredClone`,
   * `fs.readFileSync`, …) are wrapped, so that a block inside one names the function that made the
   * call, the built-in and the size of its input. A wrapper keeps `name`, `length`, `this`, results
   * and errors; `disable()` restores the original. Needs `captureStack`.
   * @default true
   */
  nativeCalls?: boolean;
  /**
   * Positions are those of the source where a source map is found beside the file, without
   * `--enable-source-maps`. Maps are read by a thread of their own, once per file, after a block.
   * @default true
   */
  sourceMaps?: boolean;
  /**
   * Which async_hooks to listen to.
   *
   * - `'promises'`: callbacks and promise reactions: the context of every continuation is known.
   * - `'callbacks'`: callbacks only, which adds hardly anything to the cost of an `await`. The
   *   parent of a block that is made of promise reactions comes from `captureStack`, and is unknown
   *   without it. Needs Node.js 24.14 or 25.6 (`trackPromises`); before these, promise hooks cannot
   *   be left out, and it is the same as `'promises'`.
   * - `'off'`: no hooks: blocks come from context scopes and from the lateness of the lag timer, to
   *   within one `lagIntervalMillis`.
   * - `'auto'`: the cheapest mode that loses nothing: `'callbacks'` where Node.js has it and stack
   *   samples can be taken, else `'promises'`.
   * @default 'auto'
   */
  asyncHooks?: AsyncHooksMode | 'auto';
  /**
   * Make spans only for blocks with an active span to be the parent. Metrics count all blocks.
   * @default false
   */
  requireParentSpan?: boolean;
  /**
   * The most spans in any 60 seconds, a whole number from 0 (none) to 60 000. Blocks past this
   * limit are counted in `event_loop.block.suppressed`. While other functions block too, one
   * function gets a tenth of the limit at most. There are two exceptions, unless it is 0: the first
   * block of each function gets its span, for the first 1000 functions; and where one function has
   * used up the limit alone, a further tenth is left for others.
   * @default 600
   */
  maxSpansPerMinute?: number;
  /**
   * Which blocks become log records with the event name `event_loop.blocked`, through the logger
   * provider. Without a logger provider there are none.
   *
   * - `'unsampled'`: those without a recorded span: blocks of a trace that is not sampled, blocks
   *   past `maxSpansPerMinute`, blocks that `requireParentSpan` leaves out, and all blocks without
   *   an SDK for traces.
   * - `'all'`: all blocks, those with a span too.
   * - `'off'`: none.
   * @default 'unsampled'
   */
  blockEvents?: BlockEventsMode;
  /**
   * When the loop profile is made: which functions and routes use the event loop, also where
   * nothing blocks it. The code that runs is sampled at random moments, one a second on average,
   * and counted by function and route: `event_loop.busy.samples`, `loopProfile()`. Needs
   * `captureStack`.
   *
   * - `'busy'`: while the loop is busy for half of the time or more.
   * - `'always'`: also while it is less busy. Moments at which it waits for events do not count.
   * - `'off'`: never.
   * @default 'busy'; in worker threads 'off'
   */
  loopProfile?: LoopProfileMode;
  /**
   * A folder for the profile of each block with more than 5 stack samples, one file for each, which
   * `pprof` and speedscope open; at most 1000 from one thread. By default, none is written.
   */
  profileDir?: string;
  /**
   * Path of an HTML file with everything that blocked, for a browser: timeline, flame graph,
   * functions and requests. It is written when the process exits, when the instrumentation is
   * disabled and, except on Windows, on SIGURG. `{pid}` stands for the process id; in a worker
   * thread `-worker-<id>` is added to the name. By default, none is written.
   */
  reportFile?: string;
  /**
   * A block that still runs after this many milliseconds, up to 3 600 000, is reported while it
   * lasts, by the thread that `captureStack` starts: one line on stderr, and a span or a log event
   * with `event_loop.block.unfinished` where the standard environment variables say that the
   * process exports by OTLP. 0 turns it off. The report never comes before the first stack sample,
   * at 0.6 of the threshold.
   * @default 5000
   */
  unfinishedAfterMillis?: number;
  /**
   * For development: a line on stderr for each block, and a summary of what blocked most when the
   * process exits or, except on Windows, gets SIGURG (`kill -URG <pid>`). Needs no SDK, and shows
   * blocks whether or not their trace is sampled.
   *
   * - `true`: lines for people.
   * - `'json'`: one JSON object a line, for each block and for the summary, as the package's
   *   `console.schema.json` describes them.
   * - `'markdown'`: the summary only, as Markdown.
   * @default false
   */
  console?: boolean | 'json' | 'markdown';
  /**
   * Called with each span before it ends, to add or replace attributes; and before a log event is
   * emitted, with an object on which only `setAttribute` and `setAttributes` have an effect. An
   * error that it throws is logged through `diag` and ignored. Has no environment variable.
   */
  blockHook?: (span: Span, block: EventLoopBlock) => void;
  /**
   * A block for which it returns `true` gets neither a span nor an event nor a line of `console`;
   * metrics and `health()` count it. Called once for each block that may get one, when the block is
   * reported; or before that, where a span that the block stalled ends first: then `gcTimeMillis`
   * and positions in the source are not known yet. An error that it throws is logged through
   * `diag`, and counts as `false`. Has no environment variable.
   */
  ignoreBlockHook?: (block: EventLoopBlock) => boolean;
}
