/** What all receivers have in common. */
import type { Span } from '../../../tools/otlp.cjs';

export interface Receiver {
  /** What the app gets of it. */
  env: Record<string, string>;
  spans(): Span[];
  close(): void;
}

/** Kinds of spans, as OTLP counts them. */
export const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
