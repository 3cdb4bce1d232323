// Sends long blocks to a webhook, such as Slack's: an output of your own, told by a public channel.
// It needs no SDK. Each function has one message a minute at most.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { BLOCK_CHANNEL, EventLoopInstrumentation } from 'opentelemetry-instrumentation-event-loop';

const LONG_MILLIS = 200;
const PAUSE_MILLIS = 60_000;
const MOST_FUNCTIONS = 1000;

export function startWebhook(url) {
  const lastSent = new Map();
  const onBlock = (message) => {
    const { code, durationMillis } = message.block;
    const { functionName = 'unknown code', file, line } = code ?? {};
    const isSent = Date.now() - lastSent.get(functionName) < PAUSE_MILLIS;
    if (message.ignored || durationMillis < LONG_MILLIS || isSent) return;
    if (lastSent.size >= MOST_FUNCTIONS) lastSent.clear();
    lastSent.set(functionName, Date.now());
    // A block in the first moments of a process may have no place.
    const place = file === undefined ? '' : ` (${file}:${line})`;
    const { operation = 'no request' } = message.request();
    const text = `${functionName}${place} blocked for ${Math.round(durationMillis)} ms: ${operation}`;
    const headers = { 'content-type': 'application/json' };
    fetch(url, { method: 'POST', headers, body: JSON.stringify({ text }) }).catch((error) =>
      console.error(`webhook: ${error.message}`),
    );
  };
  subscribe(BLOCK_CHANNEL, onBlock);
  return () => unsubscribe(BLOCK_CHANNEL, onBlock);
}

startWebhook(process.env.WEBHOOK_URL);
new EventLoopInstrumentation();
