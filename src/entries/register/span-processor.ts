/** Adds the span processor of stalled spans to the SDK of `/register`. */
import { trace } from '@opentelemetry/api';
import { main } from '../../main-entry.ts';
import { apiRegistry } from '../../otel/api-registry.ts';
import type { OnceLogger } from '../../otel/diag-once.ts';
import { sdkOf } from '../../otel/sdk-internals.ts';

/** @param log is told if it cannot be added */
export function addSpanProcessor(log?: OnceLogger): void {
  // Without an exporter of traces, the SDK registers no tracer provider.
  if (apiRegistry().trace === undefined || addToProcessors()) return;
  log?.log(
    'warn',
    'no EventLoopSpanProcessor: this SDK has changed; ' +
      'stalled spans have no event_loop.stall.duration',
  );
}

/**
 * Adds it to those that NodeSDK has made from the environment. It has no option for that:
 * `spanProcessors` takes their place, and providers cannot be added to. The same private field in
 * SDK 2.0 to 3.0.
 * @returns whether that was possible
 */
function addToProcessors(): boolean {
  type Provider = { _activeSpanProcessor?: { _spanProcessors?: unknown } };
  const processors = (sdkOf(trace.getTracerProvider()) as Provider)._activeSpanProcessor
    ?._spanProcessors;
  if (!Array.isArray(processors)) return false;
  const processor = new main.EventLoopSpanProcessor();
  // One of the application's own, of whichever copy of this package, stays the only one.
  const isThere = processors.some((each) => each?.constructor?.name === processor.constructor.name);
  if (!isThere) processors.unshift(processor);
  return true;
}
