/** An ES module that passes its instances to CommonJS: the types of both formats are the same. */
import {
  EventLoopInstrumentation,
  EventLoopSpanProcessor,
} from 'opentelemetry-instrumentation-event-loop';
import { take } from './takes.cjs';

take(new EventLoopInstrumentation(), new EventLoopSpanProcessor());
