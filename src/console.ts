/**
 * The entry `opentelemetry-instrumentation-event-loop/console`, for `node --import` and `node
 * --require`. Exports nothing.
 */
import { startConsoleReport } from './core.ts';

startConsoleReport();
