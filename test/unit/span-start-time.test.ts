import type { Span } from '@opentelemetry/api';
import { spanStartTime } from '../../src/otel/sdk-internals.ts';

const startOf = (span: object) => spanStartTime(span as Span);

describe('when a span began', () => {
  test("is read from dd-trace's, in milliseconds, behind what its context manager has for active", () => {
    expect(startOf({ _ddSpan: { _startTime: 1500 } })).toEqual([1, 500_000_000]);
  });
});
