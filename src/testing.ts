/**
 * The entry `opentelemetry-instrumentation-event-loop/testing`: what is public, and nothing else.
 */
export { EventLoopBlockedError } from './testing/event-loop-blocked-error.ts';
export type { BaselineOptions } from './testing/known-blocks.ts';
export {
  type ExpectNoBlocksOptions,
  expectNoBlocks,
  type RecordingOptions,
  recordBlocks,
} from './testing/recording.ts';
export type { BlockingCode, BlockKind, EventLoopBlock, FunctionShare } from './types.ts';
