/**
 * When a request was received, if a proxy says so in `X-Request-Start` and the application has
 * the HTTP instrumentation put that header on the span (`headersToSpanAttributes`).
 */
import type { Attributes } from '@opentelemetry/api';

/** The header's name in semantic conventions, and in older HTTP instrumentations. */
const NAMES = ['http.request.header.x-request-start', 'http.request.header.x_request_start'];
/** Whichever unit it has, it is a time of this century. */
const MIN_EPOCH_MILLIS = 1e12;
const MAX_EPOCH_MILLIS = 1e13;
/** nginx: `t=` and seconds; Heroku: milliseconds; HAProxy: `t=` and microseconds. */
const UNITS_MILLIS = [1000, 1, 0.001];

/** Unix time in milliseconds; undefined if it is not known. */
export function receivedAt(attributes: Attributes | undefined): number | undefined {
  for (const name of NAMES) {
    const value = attributes?.[name];
    if (value === undefined) continue;
    const text = String((Array.isArray(value) ? value[0] : value) ?? '');
    const number = Number(text.startsWith('t=') ? text.slice(2) : text);
    const millis = UNITS_MILLIS.map((unit) => number * unit).find(
      (time) => time >= MIN_EPOCH_MILLIS && time < MAX_EPOCH_MILLIS,
    );
    if (millis !== undefined) return millis;
  }
  return undefined;
}
