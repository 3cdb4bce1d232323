/**
 * The entry `opentelemetry-instrumentation-event-loop/register`, for `node --import` and `node
 * --require`. Exports nothing.
 */
import { register } from './register/register.ts';
import { ownPackagesFrom } from './support/package-origins.ts';

// What brings its own packages is preloaded if there is no `--import` to choose.
const isForEsm = import.meta.url.endsWith('.mjs') || ownPackagesFrom() !== undefined;
register({ esm: isForEsm });
