/**
 * Arithmetic on OpenTelemetry's HrTime: seconds and nanoseconds. No dependency at run time: worker
 * threads use it too.
 */
import type { HrTime } from '@opentelemetry/api';

export function toHrTime(epochMillis: number): HrTime {
  const seconds = Math.floor(epochMillis / 1000);
  return [seconds, Math.min(999_999_999, Math.round((epochMillis - seconds * 1000) * 1e6))];
}

export function addMillis([seconds, nanos]: HrTime, millis: number): HrTime {
  const total = nanos + Math.round(millis * 1e6);
  return [seconds + Math.floor(total / 1e9), total % 1e9];
}

export function hrTimeToMillis([seconds, nanos]: HrTime): number {
  return seconds * 1000 + nanos / 1e6;
}

export function isBefore(a: HrTime, b: HrTime): boolean {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
}
