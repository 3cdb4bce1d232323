/**
 * The entry `opentelemetry-instrumentation-event-loop/console`, for `node --import` and `node
 * --require`. Exports nothing.
 */
import { createRequire } from 'node:module';
import { preload } from './support/preload.ts';

preload('console', () => {
  const core = createRequire(import.meta.url)('./core.cjs') as typeof import('./core.ts');
  core.startConsoleReport();
});
