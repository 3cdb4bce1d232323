/** What all receivers have in common. */
import type { ReadSpan } from '../../../demo/telemetry-reader.mjs';

export interface Receiver {
  /** What the app is told of it. */
  env: Record<string, string>;
  spans(): ReadSpan[];
  close(): void;
}

/** Kinds of spans, as OTLP counts them. */
export const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
