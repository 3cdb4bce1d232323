/**
 * The entry `opentelemetry-instrumentation-event-loop/register`, for `node --import` and `node
 * --require`. Exports nothing.
 */
import { createRequire } from 'node:module';
import { isThreadWanted } from './register/worker-threads.ts';
import { ownPackagesFrom } from './support/package-origins.ts';
import { preload } from './support/preload.ts';

type Register = typeof import('./register/register.ts');

preload('register', () => {
  // Code that blocks belongs into a worker thread, and an SDK in each would be expensive. So a
  // worker thread loads it only if the environment asks for it.
  if (!isThreadWanted()) return;
  const { register } = createRequire(import.meta.url)('./register/register.cjs') as Register;
  // An injector that brings its own packages preloads this if there is no `--import` to choose.
  register({ esm: import.meta.url.endsWith('.mjs') || ownPackagesFrom() !== undefined });
});
