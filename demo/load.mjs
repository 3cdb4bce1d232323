// Load from outside the service's process: requests to one endpoint, and health checks at a steady
// rate beside them. A health check is sent when it is due, whether or not the ones before it were
// answered, and its latency counts from the moment it was due: nothing is left out because the
// service was slow (no coordinated omission).
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { sendOk } from '../tools/http-client.cjs';

const TIMEOUT_MILLIS = 30_000;

/** @typedef {import('../tools/demo-service/workload.cjs').Request} Request */

/**
 * One client: sends a request, reads the answer, thinks for a while, sends the next.
 * @param {Request} request
 * @param {{ requests: number, thinkMillis: number, onAnswer: (answered: number) => void }} options
 */
export async function keepBusy({ url, ...options }, { requests, thinkMillis, onAnswer }) {
  for (let answered = 1; answered <= requests; answered++) {
    await sendOk(url, { ...options, timeoutMillis: TIMEOUT_MILLIS });
    onAnswer(answered);
    await pause(thinkMillis);
  }
}

/**
 * One request with the context of a trace that its caller has not sampled: nor does the service.
 * @param {Request} request
 * @returns {Promise<{ traceId: string }>}
 */
export async function sendUnsampled({ url, ...options }) {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  const headers = { traceparent: `00-${traceId}-${spanId}-00` };
  await sendOk(url, { ...options, headers, timeoutMillis: TIMEOUT_MILLIS });
  return { traceId };
}

/**
 * Requests at a steady rate beside the load: those that are stalled when something else blocks the
 * event loop.
 * @param {string} url
 * @param {number} intervalMillis
 * @returns {{ end(): Promise<void> }} `end` waits for all answers
 */
export function startOtherRequests(url, intervalMillis) {
  const answers = [];
  const timer = setInterval(() => {
    const answer = sendOk(url, { timeoutMillis: TIMEOUT_MILLIS });
    answer.catch(() => {}); // examined at the end
    answers.push(answer);
  }, intervalMillis);
  return {
    async end() {
      clearInterval(timer);
      await Promise.all(answers);
    },
  };
}

/**
 * @param {string} url
 * @param {number} intervalMillis
 * @returns {{ sent(): number, end(): void, latencies(): Promise<number[]> }} `latencies` waits for
 *   the answers to what was sent before `end`; in milliseconds, in the order in which the checks
 *   were due
 */
export function startHealthChecks(url, intervalMillis) {
  const checks = [];
  let due = performance.now();
  const sendWhatIsDue = () => {
    for (; due <= performance.now(); due += intervalMillis) checks.push(latency(url, due));
  };
  sendWhatIsDue();
  const timer = setInterval(sendWhatIsDue, intervalMillis / 5);
  return {
    sent: () => checks.length,
    end: () => clearInterval(timer),
    async latencies() {
      const results = await Promise.all(checks);
      const failed = results.find((result) => result instanceof Error);
      if (failed) throw new Error(`a health check failed: ${failed.message}`, { cause: failed });
      return results;
    },
  };
}

/**
 * Over a connection of its own, as orchestrators do it.
 * @returns {Promise<number | Error>} never rejected: it is read after the load is over
 */
async function latency(/** @type {string} */ url, /** @type {number} */ due) {
  try {
    await sendOk(url, { agent: false, timeoutMillis: TIMEOUT_MILLIS });
    return performance.now() - due;
  } catch (error) {
    return /** @type {Error} */ (error);
  }
}
