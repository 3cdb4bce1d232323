/** Asks again and again, until the answer is there. */
import { setTimeout as pause } from 'node:timers/promises';

const ASK_AGAIN_MILLIS = 100;
const PATIENCE_MILLIS = 60_000;

export async function eventually<Answer>(
  what: string,
  ask: () => Promise<Answer | undefined>,
): Promise<Answer> {
  const deadline = performance.now() + PATIENCE_MILLIS;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`not in time: ${what}`);
    await pause(ASK_AGAIN_MILLIS);
  }
}
