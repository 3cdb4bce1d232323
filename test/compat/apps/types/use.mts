/** What a user writes; the test compiles it as CommonJS, too. */
import { NodeSDK } from '@opentelemetry/sdk-node';
import { BatchSpanProcessor, ConsoleSpanExporter } from '@opentelemetry/sdk-trace';
import {
  ATTR_CODE_FUNCTION_NAME,
  type EventLoopBlock,
  type EventLoopHealth,
  EventLoopInstrumentation,
  type EventLoopInstrumentationConfig,
  EventLoopSpanProcessor,
} from 'opentelemetry-instrumentation-event-loop';

const config: EventLoopInstrumentationConfig = {
  thresholdMillis: 50,
  asyncHooks: 'auto',
  blockHook: (span, block: EventLoopBlock) => {
    span.setAttribute(ATTR_CODE_FUNCTION_NAME, block.code?.functionName ?? '');
  },
};
const eventLoop = new EventLoopInstrumentation(config);
new NodeSDK({
  spanProcessors: [
    new EventLoopSpanProcessor(),
    new BatchSpanProcessor({ exporter: new ConsoleSpanExporter() }),
  ],
  instrumentations: [eventLoop],
});
export const health: EventLoopHealth = eventLoop.health();

// @ts-expect-error: types are there, or this would be `any`
new EventLoopInstrumentation({ thresholdMillis: '50' });
