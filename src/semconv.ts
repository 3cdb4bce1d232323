/**
 * Every span, event, attribute and metric name that this package emits, once. The names are a
 * contract: dashboards and alerts are written against them, so a change is a breaking change.
 * docs/reference.md says all of each. Those without a comment are OpenTelemetry's own.
 *
 * Made from `semconv/*.yaml` by `npm run check -- semconv`: change it there.
 */

/** Span name. This span represents one block of the event loop. */
export const SPAN_EVENT_LOOP_BLOCKED = 'event-loop-blocked';

/** Log event. This event represents one block of the event loop. */
export const EVENT_EVENT_LOOP_BLOCKED = 'event_loop.blocked';

/** What blocked the event loop. */
export const ATTR_EVENT_LOOP_BLOCK_KIND = 'event_loop.block.kind';

/** How many callbacks are known to have run in the block, without promise reactions. */
export const ATTR_EVENT_LOOP_BLOCK_CALLBACKS = 'event_loop.block.callbacks';

/** Seconds of CPU that the blocked thread used in the block. */
export const ATTR_EVENT_LOOP_BLOCK_CPU_TIME = 'event_loop.block.cpu_time';

/** Seconds of garbage collection in the block. */
export const ATTR_EVENT_LOOP_BLOCK_GC_TIME = 'event_loop.block.gc_time';

/** Type of the async resource whose callback blocked the event loop, as `async_hooks` names it. */
export const ATTR_EVENT_LOOP_ASYNC_RESOURCE_TYPE = 'event_loop.async_resource.type';

/**
 * Exact length of the block in seconds: on a log event, and on a span that is shorter than the
 * block.
 */
export const ATTR_EVENT_LOOP_BLOCK_DURATION = 'event_loop.block.duration';

/** `true` on metrics of code that `expectBlock` ran; absent on others. */
export const ATTR_EVENT_LOOP_BLOCK_EXPECTED = 'event_loop.block.expected';

/** `true` on the report of an ongoing block; absent on others. */
export const ATTR_EVENT_LOOP_BLOCK_UNFINISHED = 'event_loop.block.unfinished';

/** What took most of the block. */
export const ATTR_EVENT_LOOP_BLOCK_CAUSE = 'event_loop.block.cause';

/** Seconds in which JavaScript could not be interrupted, garbage collection included. */
export const ATTR_EVENT_LOOP_BLOCK_NATIVE_TIME = 'event_loop.block.native_time';

/**
 * The built-in function that ran for most of the block, as it is written in code; `WebAssembly` for
 * code of such a module.
 */
export const ATTR_EVENT_LOOP_BLOCK_NATIVE_CALL = 'event_loop.block.native_call';

/** Size of its input in characters, bytes or elements, if that is known without extra work. */
export const ATTR_EVENT_LOOP_BLOCK_NATIVE_CALL_SIZE = 'event_loop.block.native_call.size';

/**
 * The nearest function of the application in another file that has called the blocking function for
 * most of its time.
 */
export const ATTR_EVENT_LOOP_BLOCK_CALLED_BY = 'event_loop.block.called_by';

/** File of the module that the blocking function was loading, by `require` or `import()`. */
export const ATTR_EVENT_LOOP_BLOCK_LOADED_MODULE = 'event_loop.block.loaded_module';

/** How many stack samples were taken in the block. */
export const ATTR_EVENT_LOOP_BLOCK_SAMPLES = 'event_loop.block.samples';

/** The functions that ran innermost, at most five, and their shares. */
export const ATTR_EVENT_LOOP_BLOCK_TOP_FUNCTIONS = 'event_loop.block.top_functions';

/** How many other spans had not ended when the block did. */
export const ATTR_EVENT_LOOP_BLOCK_STALLED_SPANS = 'event_loop.block.stalled_spans';

/** How many entry spans began right after the block, and may have waited for it. */
export const ATTR_EVENT_LOOP_BLOCK_QUEUED_SPANS = 'event_loop.block.queued_spans';

/** Seconds in which the span was open while something else blocked the event loop. */
export const ATTR_EVENT_LOOP_STALL_DURATION = 'event_loop.stall.duration';

/**
 * `true` if more blocks fell into the span than the 1024 that are remembered: the duration is a
 * lower bound.
 */
export const ATTR_EVENT_LOOP_STALL_INCOMPLETE = 'event_loop.stall.incomplete';

/**
 * On an entry span (SERVER, CONSUMER, or without a parent in this process) that began right after a
 * block: seconds that it may have waited before it began, an upper bound.
 */
export const ATTR_EVENT_LOOP_STALL_QUEUED = 'event_loop.stall.queued';

/**
 * The operation of the stalled entry span, if its route does not say it: that of GraphQL, the shape
 * of a path without a route, or its name.
 */
export const ATTR_EVENT_LOOP_STALL_OPERATION = 'event_loop.stall.operation';

/** On a link: what it leads to. */
export const ATTR_EVENT_LOOP_LINK_TYPE = 'event_loop.link.type';

/** Value of {@link ATTR_EVENT_LOOP_LINK_TYPE}: the span of a block that the span waited for. */
export const LINK_TYPE_BLOCKED_BY = 'blocked_by';

/**
 * Value of {@link ATTR_EVENT_LOOP_LINK_TYPE}: on the span of a block without a parent: the span in
 * whose context the code ran, of a request that had ended before, and had started it.
 */
export const LINK_TYPE_MADE_BY = 'made_by';

/** On which threads the package used the CPU. */
export const ATTR_EVENT_LOOP_OWN_THREAD = 'event_loop.own.thread';

/** What was left out. */
export const ATTR_EVENT_LOOP_OWN_STEP = 'event_loop.own.step';

/** Why the thread was not given a CPU. */
export const ATTR_EVENT_LOOP_SUSPENSION_REASON = 'event_loop.suspension.reason';

export const ATTR_CODE_FUNCTION_NAME = 'code.function.name';

export const ATTR_CODE_FILE_PATH = 'code.file.path';

export const ATTR_CODE_LINE_NUMBER = 'code.line.number';

export const ATTR_CODE_COLUMN_NUMBER = 'code.column.number';

export const ATTR_CODE_STACKTRACE = 'code.stacktrace';

export const ATTR_THREAD_ID = 'thread.id';

export const ATTR_THREAD_NAME = 'thread.name';

export const ATTR_HTTP_ROUTE = 'http.route';

/**
 * A histogram in `s`. How long an event that arrives at a random moment waits for the event loop.
 */
export const METRIC_EVENT_LOOP_LAG = 'event_loop.lag';

/** A histogram in `s`. Length of the blocks. */
export const METRIC_EVENT_LOOP_BLOCK_DURATION = 'event_loop.block.duration';

/** A counter in `{block}`. Blocks without a span because of `maxSpansPerMinute`. */
export const METRIC_EVENT_LOOP_BLOCK_SUPPRESSED = 'event_loop.block.suppressed';

/**
 * A histogram in `s`. How long each entry span (SERVER, CONSUMER) was stalled by blocks that it did
 * not cause.
 */
export const METRIC_EVENT_LOOP_STALL_DURATION = 'event_loop.stall.duration';

/**
 * A counter in `s`. How long requests and messages (SERVER, CONSUMER) waited for the blocks of a
 * function, while their spans were open and before.
 */
export const METRIC_EVENT_LOOP_STALL_CAUSED = 'event_loop.stall.caused';

/** A counter in `s`. CPU time that this package itself has used. */
export const METRIC_EVENT_LOOP_OWN_DURATION = 'event_loop.own.duration';

/** A counter in `{step}`. What the package has left out to stay within its budget. */
export const METRIC_EVENT_LOOP_OWN_SKIPPED = 'event_loop.own.skipped';

/**
 * A histogram in `s`. For how long the thread of the event loop was not given a CPU, at least 20 ms
 * at a time.
 */
export const METRIC_EVENT_LOOP_SUSPENSION_DURATION = 'event_loop.suspension.duration';
