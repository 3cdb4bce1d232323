/** What is public, and nothing else. */
export { EventLoopInstrumentation } from './instrumentation.ts';
export * from './semconv.ts';
export type {
  AsyncHooksMode,
  BlockKind,
  EventLoopBlock,
  EventLoopInstrumentationConfig,
} from './types.ts';
