// Sends long blocks to a webhook, such as Slack's: an extra from outside, on the public channel. It
// needs no SDK. Each function has one message a minute at most.
import { subscribe } from 'node:diagnostics_channel';
import { BLOCK_CHANNEL, EventLoopInstrumentation } from 'opentelemetry-instrumentation-event-loop';

const LONG_MILLIS = 200;
const PAUSE_MILLIS = 60_000;
const MOST_FUNCTIONS = 1000;
const lastSent = new Map();

subscribe(BLOCK_CHANNEL, ({ block }) => {
  const { functionName = 'unknown code', file, line } = block.code ?? {};
  if (block.durationMillis < LONG_MILLIS || isSent(functionName)) return;
  // A block in the first moments of a process may have no place.
  const place = file === undefined ? '' : ` (${file}:${line})`;
  const text = `${functionName}${place} blocked for ${Math.round(block.durationMillis)} ms`;
  fetch(process.env.WEBHOOK_URL, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
  }).catch((error) => console.error(`webhook: ${error.message}`));
});

function isSent(functionName) {
  if (Date.now() - lastSent.get(functionName) < PAUSE_MILLIS) return true;
  if (lastSent.size >= MOST_FUNCTIONS) lastSent.clear();
  lastSent.set(functionName, Date.now());
  return false;
}

new EventLoopInstrumentation();
