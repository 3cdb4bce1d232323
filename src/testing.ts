/**
 * The entry `opentelemetry-instrumentation-event-loop/testing`: what is public, and nothing else.
 */
export { EventLoopBlockedError } from './entries/testing/event-loop-blocked-error.ts';
export type { ExpectNoBlocksOptions, RecordingOptions } from './entries/testing/options.ts';
export { expectNoBlocks, recordBlocks } from './entries/testing/recording.ts';
export type { BlockingCode, BlockKind, EventLoopBlock, FunctionShare } from './types.ts';
