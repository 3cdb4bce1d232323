/** What is public, and nothing else. */
export { EventLoopInstrumentation } from './instrumentation.ts';
export * from './semconv.ts';
export type {
  AsyncHooksMode,
  BlockingCode,
  BlockKind,
  EventLoopBlock,
  EventLoopInstrumentationConfig,
  FunctionShare,
} from './types.ts';
