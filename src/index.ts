/** What is public, and nothing else. */
import { markEndOfOwnCode } from './watchdog/own-code.ts'; // first: see there

export { EventLoopInstrumentation } from './instrumentation.ts';
export { BLOCK_CHANNEL, type BlockMessage } from './report/block-channel.ts';
export * from './semconv.ts';
export { EventLoopSpanProcessor } from './stall/event-loop-span-processor.ts';
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
  LoopFunction,
  LoopOperation,
  LoopProfile,
  LoopProfileMode,
  SuspensionReason,
} from './types.ts';

markEndOfOwnCode((whereAmI) => whereAmI()); // last: see there
