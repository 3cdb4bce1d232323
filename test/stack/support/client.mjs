// Requests whose trace the test knows beforehand: it sends the `traceparent` itself.
import { randomBytes } from 'node:crypto';

const TIMEOUT_MILLIS = 120_000;

/**
 * @param {string} url
 * @param {{ method?: string, body?: Buffer }} [request]
 * @returns {Promise<{ traceId: string, endedMillis: number }>}
 */
export async function traced(url, { method = 'GET', body } = {}) {
  const traceId = randomBytes(16).toString('hex');
  const response = await fetch(url, {
    method,
    headers: {
      traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    signal: AbortSignal.timeout(TIMEOUT_MILLIS),
    ...(body ? { body } : {}),
  });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}`);
  return { traceId, endedMillis: Date.now() };
}
