/** CommonJS that is given what an ES module has made. */
import type {
  EventLoopInstrumentation,
  EventLoopSpanProcessor,
} from 'opentelemetry-instrumentation-event-loop';

export function take(eventLoop: EventLoopInstrumentation, processor: EventLoopSpanProcessor): void {
  eventLoop.disable();
  void processor.shutdown();
}
