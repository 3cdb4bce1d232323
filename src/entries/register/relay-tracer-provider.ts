/**
 * Tracers that follow from one SDK to another. A tracer that is taken from the api while an SDK is
 * registered belongs to that SDK for good, and instrumentations ask before the SDK they are for
 * registers anything.
 */
import type {
  Context,
  SpanOptions,
  Tracer,
  TracerOptions,
  TracerProvider,
} from '@opentelemetry/api';

export class RelayTracerProvider implements TracerProvider {
  constructor(public target: TracerProvider) {}

  getTracer(name: string, version?: string, options?: TracerOptions): Tracer {
    return new RelayTracer(this, [name, version, options]);
  }

  /** The api's own proxy has this method, too. */
  getDelegate(): TracerProvider {
    return this.target;
  }
}

class RelayTracer implements Tracer {
  #provider: TracerProvider | undefined;
  #tracer: Tracer | undefined;

  constructor(
    private readonly relay: RelayTracerProvider,
    private readonly scope: Parameters<TracerProvider['getTracer']>,
  ) {}

  startSpan(name: string, options?: SpanOptions, context?: Context) {
    return this.#current().startSpan(name, options, context);
  }

  startActiveSpan(...args: unknown[]) {
    const tracer = this.#current();
    return (tracer.startActiveSpan as (...args: unknown[]) => never).apply(tracer, args);
  }

  #current(): Tracer {
    if (this.#tracer === undefined || this.#provider !== this.relay.target) {
      this.#provider = this.relay.target;
      this.#tracer = this.#provider.getTracer(...this.scope);
    }
    return this.#tracer;
  }
}
