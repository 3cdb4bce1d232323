/**
 * The entry `opentelemetry-instrumentation-event-loop/register`, for `node --import` and `node
 * --require`. Exports nothing.
 */
import { register } from './register/register.ts';

register({ esm: import.meta.url.endsWith('.mjs') });
