/** What is public, and nothing else. */
import { markEndOfOwnCode } from './own-code.ts'; // first: see there

export { EventLoopInstrumentation } from './instrumentation.ts';
export { BLOCK_CHANNEL, type BlockMessage } from './report/block-channel.ts';
export * from './semconv.ts';
export type {
  AsyncHooksMode,
  BlockingCode,
  BlockKind,
  EventLoopBlock,
  EventLoopHealth,
  EventLoopInstrumentationConfig,
  FunctionShare,
} from './types.ts';
export { EventLoopSpanProcessor } from './victims/event-loop-span-processor.ts';

markEndOfOwnCode((whereAmI) => whereAmI()); // last: see there
