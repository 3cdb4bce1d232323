// A request whose trace the test knows beforehand: it sends the `traceparent` itself.
import { randomBytes } from 'node:crypto';
import { sendOk } from '../../../tools/http-client.cjs';

/**
 * @param {string} url
 * @param {{ method?: string, body?: Buffer }} [request]
 * @returns {Promise<{ traceId: string, endedMillis: number }>}
 */
export async function traced(url, { method, body } = {}) {
  const traceId = randomBytes(16).toString('hex');
  const traceparent = `00-${traceId}-${randomBytes(8).toString('hex')}-01`;
  await sendOk(url, { ...(method && { method }), body, headers: { traceparent } });
  return { traceId, endedMillis: Date.now() };
}
