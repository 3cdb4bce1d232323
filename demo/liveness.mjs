// `npm run demo -- --liveness`: one request that blocks the event loop for 43 s, and what a
// liveness probe makes of it: one on the application, and one on the health server. Nobody is
// killed: it says when an orchestrator would have.
import { setTimeout as wait } from 'node:timers/promises';
import { sendOk } from '../tools/http-client.cjs';
import { paint } from './report/style.mjs';

/** The defaults of Kubernetes. */
const PERIOD_SECONDS = 10;
const FAILURES = 3;
const TIMEOUT_MILLIS = 1000;
const WARM_UP_STEPS = 400;

/** @returns {Promise<{ status: number, body: Record<string, any> }>} status 0: no answer in time */
async function probe(/** @type {string} */ url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MILLIS) });
    return { status: response.status, body: JSON.parse(await response.text()) };
  } catch {
    return { status: 0, body: {} };
  }
}

/** How an orchestrator counts. */
class LivenessProbe {
  #failures = 0;
  killedAt = Number.NaN;

  /** @param {number} seconds since the block began */
  note(/** @type {number} */ status, seconds) {
    this.#failures = status === 200 ? 0 : this.#failures + 1;
    if (this.#failures === FAILURES && Number.isNaN(this.killedAt)) this.killedAt = seconds;
    if (status === 200) return paint.good('passes');
    const isGone = this.killedAt < seconds;
    return paint.bad(isGone ? 'gone' : `fails, ${this.#failures} of ${FAILURES}`);
  }
}

function livezLine(/** @type {Record<string, any>} */ { status, blockedMillis }) {
  return blockedMillis > 0 ? `${status} for ${(blockedMillis / 1000).toFixed(1)} s` : status;
}

/**
 * @param {string} origin of the service
 * @param {number} livezPort of its health server
 * @param {number} seconds how long the request is to block
 * @param {(text: string) => void} write
 * @returns {Promise<boolean>} whether the one would have been killed, and the other not
 */
export async function showLiveness(origin, livezPort, seconds, write) {
  const computeSync = (/** @type {number} */ steps) =>
    sendOk(`${origin}/compute-sync?steps=${steps}`, { timeoutMillis: 4000 * seconds });
  let millis = Infinity;
  for (let i = 0; i < 3; i++) {
    const start = performance.now();
    await computeSync(WARM_UP_STEPS);
    millis = Math.min(millis, performance.now() - start);
  }
  const period = Math.min(PERIOD_SECONDS, seconds / 4.3);
  write(
    `\n GET /compute-sync blocks the event loop for some ${seconds} s. A liveness probe asks\n`,
  );
  write(` every ${period.toFixed(1)} s, waits for 1 s, and kills after ${FAILURES} failures.\n\n`);
  const start = performance.now();
  const since = () => (performance.now() - start) / 1000;
  let isOver = false;
  const request = computeSync(Math.round((WARM_UP_STEPS * seconds * 1000) / millis)).then(() => {
    isOver = true;
  });
  const [application, healthServer] = [new LivenessProbe(), new LivenessProbe()];
  for (let due = period / 2; !isOver; due += period) {
    await Promise.race([wait(Math.max(0, due - since()) * 1000), request]);
    if (isOver) break;
    const [asked, livez] = await Promise.all([
      probe(`${origin}/healthcheck`),
      probe(`http://127.0.0.1:${livezPort}/livez`),
    ]);
    const at = `${due.toFixed(0)} s`.padStart(6);
    write(` ${paint.dim(at)}  /healthcheck  ${application.note(asked.status, due)}\n`);
    const says = paint.dim(livezLine(livez.body));
    write(`         /livez        ${healthServer.note(livez.status, due)}  ${says}\n`);
  }
  await request;
  write(`\n The request is answered after ${paint.title(`${since().toFixed(1)} s`)}.\n`);
  const killed = [application, healthServer].map(({ killedAt }) => !Number.isNaN(killedAt));
  const end = (/** @type {LivenessProbe} */ { killedAt }) =>
    Number.isNaN(killedAt)
      ? paint.good('lives')
      : paint.bad(`is killed after ${killedAt.toFixed(0)} s`);
  write(` With the probe on /healthcheck the process ${end(application)}.\n`);
  write(` With the probe on /livez it ${end(healthServer)}.\n\n`);
  return killed[0] === true && killed[1] === false;
}
