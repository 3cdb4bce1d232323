/**
 * OTLP as protobuf, read into what OTLP has as JSON: the fields that tests read, by their numbers.
 * https://github.com/open-telemetry/opentelemetry-proto
 */
type Kind = 'string' | 'hex' | 'int' | 'bool' | 'double' | 'fixed64';
interface Field {
  readonly name: string;
  readonly of: Kind | (() => Message);
  readonly repeated?: boolean;
}
type Message = Readonly<Record<number, Field>>;

const one = (name: string, of: Field['of']): Field => ({ name, of });
const many = (name: string, of: Field['of']): Field => ({ name, of, repeated: true });

const VALUE: Message = {
  1: one('stringValue', 'string'),
  2: one('boolValue', 'bool'),
  3: one('intValue', 'int'),
  4: one('doubleValue', 'double'),
  5: one('arrayValue', () => ({ 1: many('values', () => VALUE) })),
};
const ATTRIBUTE: Message = { 1: one('key', 'string'), 2: one('value', () => VALUE) };
const RESOURCE: Message = { 1: many('attributes', () => ATTRIBUTE) };
const SCOPE: Message = { 1: one('name', 'string') };
const SPAN: Message = {
  1: one('traceId', 'hex'),
  2: one('spanId', 'hex'),
  4: one('parentSpanId', 'hex'),
  5: one('name', 'string'),
  6: one('kind', 'int'),
  7: one('startTimeUnixNano', 'fixed64'),
  8: one('endTimeUnixNano', 'fixed64'),
  9: many('attributes', () => ATTRIBUTE),
  13: many('links', () => ({ 1: one('traceId', 'hex'), 2: one('spanId', 'hex') })),
};
const SCOPE_SPANS: Message = { 1: one('scope', () => SCOPE), 2: many('spans', () => SPAN) };
const METRIC: Message = { 1: one('name', 'string'), 3: one('unit', 'string') };
const SCOPE_METRICS: Message = { 1: one('scope', () => SCOPE), 2: many('metrics', () => METRIC) };

export const TRACES: Message = {
  1: many('resourceSpans', () => ({
    1: one('resource', () => RESOURCE),
    2: many('scopeSpans', () => SCOPE_SPANS),
  })),
};
export const METRICS: Message = {
  1: many('resourceMetrics', () => ({
    1: one('resource', () => RESOURCE),
    2: many('scopeMetrics', () => SCOPE_METRICS),
  })),
};

/** What is not in `message` is left out. */
export function readMessage(bytes: Buffer, message: Message): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error('protobuf: a number without an end');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const next = (length: number) => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const raw =
      [() => varint(), () => next(8), () => next(Number(varint()))][tag & 7]?.() ?? next(4);
    const field = message[tag >> 3];
    if (field === undefined) continue;
    const value = readField(raw, field.of);
    if (field.repeated) result[field.name] = [...((result[field.name] as []) ?? []), value];
    else result[field.name] = value;
  }
  return result;
}

function readField(raw: bigint | Buffer, of: Field['of']): unknown {
  if (typeof raw === 'bigint') return of === 'bool' ? raw !== 0n : Number(BigInt.asIntN(64, raw));
  if (typeof of === 'function') return readMessage(raw, of());
  if (of === 'fixed64') return String(raw.readBigUInt64LE());
  return of === 'double' ? raw.readDoubleLE() : raw.toString(of === 'hex' ? 'hex' : 'utf8');
}
