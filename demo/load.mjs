// Load from outside the service's process: requests to one endpoint, and health checks at a steady rate beside them. A
// health check is sent when it is due, whether or not the ones before it were answered, and its latency counts from the
// moment it was due: nothing is left out because the service was slow (no coordinated omission).
import { get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

const TIMEOUT_MILLIS = 30_000;

/**
 * @typedef {{ url: string, method: string, body?: Buffer }} Request
 */

/** Sends one request and reads the answer; anything but a good one is an error. */
export async function send({ url, method, body }) {
  const response = await fetch(url, {
    method,
    signal: AbortSignal.timeout(TIMEOUT_MILLIS),
    ...(body ? { body, headers: { 'content-type': 'application/json' } } : {}),
  });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}`);
}

/**
 * One client: sends a request, reads the answer, thinks for a while, sends the next.
 * @param {Request} request
 * @param {{ requests: number, thinkMillis: number, onAnswer: (answered: number) => void }} options
 */
export async function keepBusy(request, { requests, thinkMillis, onAnswer }) {
  for (let answered = 1; answered <= requests; answered++) {
    await send(request);
    onAnswer(answered);
    await pause(thinkMillis);
  }
}

/**
 * Requests at a steady rate beside the load: those who have to wait when something else holds the loop.
 * @param {string} url
 * @param {number} intervalMillis
 * @returns {{ end(): Promise<void> }} `end` waits for all answers
 */
export function startBystanders(url, intervalMillis) {
  const answers = [];
  const timer = setInterval(() => {
    const answer = send({ url, method: 'GET' });
    answer.catch(() => {}); // looked at in the end
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
 * @returns {{ sent(): number, end(): void, latencies(): Promise<number[]> }} `latencies` waits for the answers to what was
 *   sent before `end`; in milliseconds, in the order in which the checks were due
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
 * @returns {Promise<number | Error>} never rejected: nobody looks at it before the load is over
 */
function latency(url, due) {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: TIMEOUT_MILLIS }, (res) => {
      if (res.statusCode !== 200) resolve(new Error(`status ${res.statusCode}`));
      res.resume().once('end', () => resolve(performance.now() - due));
    });
    request.once('timeout', () => request.destroy(new Error('no answer in time'))).once('error', resolve);
  });
}
