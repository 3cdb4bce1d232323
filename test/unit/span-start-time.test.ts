import type { Span } from '@opentelemetry/api';
import { spanStartTime } from '../../src/otel/sdk-internals.ts';

const startOf = (span: object) => spanStartTime(span as Span);

describe('when a span began', () => {
  test("is read from the SDK's spans", () => {
    expect(startOf({ startTime: [1, 500_000_000], _startTime: 3 })).toEqual([1, 500_000_000]);
  });

  test("is read from Sentry's, in seconds", () => {
    expect(startOf({ _startTime: 1.5 })).toEqual([1, 500_000_000]);
  });

  test("is read from dd-trace's, in milliseconds, behind what its context manager has for active", () => {
    expect(startOf({ _ddSpan: { _startTime: 1500 } })).toEqual([1, 500_000_000]);
  });

  test.each([
    {},
    { startTime: 1500 },
    { startTime: [1] },
    { _startTime: '1' },
    { _ddSpan: null },
    { _ddSpan: {} },
  ])('is not guessed: %j', (span) => {
    expect(startOf(span)).toBeUndefined();
  });
});
