/**
 * The entry `opentelemetry-instrumentation-event-loop/register`, for `node --import` and `node
 * --require`. Exports nothing.
 */
import { createRequire } from 'node:module';
import { ownPackagesFrom } from './support/package-origins.ts';
import { preload } from './support/preload.ts';

type Register = typeof import('./register/register.ts');

preload('register', () => {
  const { register } = createRequire(import.meta.url)('./register/register.cjs') as Register;
  // What brings its own packages is preloaded if there is no `--import` to choose.
  register({ esm: import.meta.url.endsWith('.mjs') || ownPackagesFrom() !== undefined });
});
