/** Exports the public names, and nothing else. */
export { BLOCK_CHANNEL, EventLoopInstrumentation, EventLoopSpanProcessor } from './core.ts';
export type { BlockMessage } from './report/block-channel.ts';
export * from './semconv.ts';
export type {
  AsyncHooksMode,
  BlockCause,
  BlockEventsMode,
  BlockingCode,
  BlockKind,
  CodePlace,
  EventLoopBlock,
  EventLoopHealth,
  EventLoopInstrumentationConfig,
  FunctionShare,
  HealthServerConfig,
  SuspensionReason,
} from './types.ts';
