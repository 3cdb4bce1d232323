/**
 * The calls to other processes that are open, or ended lately: who awaits what a socket receives.
 */
import { type Attributes, type Span, SpanKind } from '@opentelemetry/api';
import type { Call } from '../record/running-code.ts';

/** A span of the SDK, if it has these. */
export type SomeSpan = Span & { readonly kind?: SpanKind; readonly attributes?: Attributes };

/** Whoever has subscribed to it receives what nobody has asked for. */
const PUBLISHERS = ['redis', 'valkey'];

/** The call to that port that a span is of; by attributes of older conventions, too. */
export function callOf(span: SomeSpan, port: number): Call[] {
  const { kind, attributes = {} } = span;
  const peerPort = attributes['server.port'] ?? attributes['net.peer.port'];
  if (kind !== SpanKind.CLIENT || Number(peerPort) !== port) return [];
  const database = attributes['db.system.name'] ?? attributes['db.system'];
  return [{ span, isOwed: database !== undefined && !PUBLISHERS.includes(String(database)) }];
}
