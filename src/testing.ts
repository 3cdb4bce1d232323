/**
 * The entry `opentelemetry-instrumentation-event-loop/testing`: what is public, and nothing else.
 */
export { EventLoopBlockedError } from './testing/event-loop-blocked-error.ts';
export type { ExpectNoBlocksOptions, RecordingOptions } from './testing/options.ts';
export { expectNoBlocks, recordBlocks } from './testing/recording.ts';
export type { BlockingCode, BlockKind, EventLoopBlock, FunctionShare } from './types.ts';
