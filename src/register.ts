/**
 * The entry `opentelemetry-instrumentation-event-loop/register`, for `node --import` and `node
 * --require`. Exports nothing.
 */
import { createRequire } from 'node:module';
import { isThreadWanted } from './entries/register/worker-threads.ts';
import { ownPackagesFrom } from './support/application-packages.ts';
import { preload } from './support/preload.ts';

preload('register', () => {
  // Code that blocks belongs into a worker thread, and an SDK in each would be expensive. So a
  // worker thread loads it only if the environment asks for it.
  if (!isThreadWanted()) return;
  const load = createRequire(import.meta.url);
  const { register } = load(
    './entries/register/register.cjs',
  ) as typeof import('./entries/register/register.ts');
  // An injector that brings its own packages preloads this if there is no `--import` to choose.
  register({ esm: import.meta.url.endsWith('.mjs') || ownPackagesFrom() !== undefined });
});
