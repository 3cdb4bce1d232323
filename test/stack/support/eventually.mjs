// Waiting for what only a server's API can answer: asked again and again, until the answer is there
// or the time is over.
import { setTimeout as pause } from 'node:timers/promises';

const ASK_AGAIN_MILLIS = 50;

/**
 * @template T
 * @param {string} what reported when the time is over
 * @param {number} withinMillis
 * @param {() => Promise<T | undefined | false | null>} ask an error is an answer that is not there
 *   yet
 * @returns {Promise<T>} the first answer that is there
 */
export async function eventually(what, withinMillis, ask) {
  const deadline = performance.now() + withinMillis;
  let lastError;
  for (;;) {
    try {
      const answer = await ask();
      if (answer) return answer;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    if (performance.now() > deadline) {
      const why = lastError ? `: ${lastError.message}` : '';
      throw new Error(`not within ${withinMillis / 1000} s: ${what}${why}`, { cause: lastError });
    }
    await pause(ASK_AGAIN_MILLIS);
  }
}
