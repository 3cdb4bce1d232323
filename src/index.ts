/** Exports the public names, and nothing else. */
export type {
  BlockMessage,
  EvidenceOptions,
  FunctionWait,
  LagMessage,
  NamedBlock,
  RequestMessage,
  RequestWait,
} from './channels.ts';
export {
  BLOCK_CHANNEL,
  EventLoopInstrumentation,
  EventLoopSpanProcessor,
  LAG_CHANNEL,
  REQUEST_CHANNEL,
} from './core.ts';
export * from './semconv.ts';
export type {
  AsyncHooksMode,
  AttributedRequest,
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
  SampledFrame,
  SampledStack,
  SuspensionReason,
} from './types.ts';
