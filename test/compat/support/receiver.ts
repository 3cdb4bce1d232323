/** What all receivers have in common. */
import type { Span } from '../../../tools/otlp.cjs';

export interface Receiver {
  /** What the app gets of it. */
  env: Record<string, string>;
  spans(): Span[];
  /** Of metrics that have come; absent if it takes none. */
  metricNames?(): Set<string>;
  close(): void;
}

/** Kinds of spans, as OTLP counts them. */
export const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
