// How long it takes from the end of a block until it is visible, with the intervals of
// docker-compose.yml and the shipped rules: its span in Jaeger, the alert on a block of over a
// second, and the alert on the lag pending. `npm run build && node test/stack/measure.mjs` (three
// minutes; deploy/README.md quotes what it prints)
import { ENDPOINTS } from '../../tools/demo-service/endpoints.cjs';
import { measureSizes } from '../../tools/demo-service/workload.cjs';
import { eventually } from '../../tools/harness.cjs';
import { composeEnvironment } from './support/compose.mjs';
import * as jaeger from './support/jaeger.mjs';
import * as prometheus from './support/prometheus.mjs';
import { isBlocked } from './support/spans.mjs';
import { startStack } from './support/stack.mjs';
import { traced } from './support/traced.mjs';

const BLOCKS = 20;
const ROUNDS = 5;
const PATIENCE_MILLIS = 120_000;
/** Of a size for 300 ms: 4 s, which one instance's 99th percentile shows for minutes. */
const LONG = 13;

const { OTEL_BSP_SCHEDULE_DELAY, OTEL_METRIC_EXPORT_INTERVAL } = composeEnvironment('demo');

async function inJaeger(stack, demo, steps) {
  const { traceId, endedMillis } = await traced(`${demo.url}/compute-sync?steps=${steps}`);
  await eventually('the block is in Jaeger', PATIENCE_MILLIS, async () => {
    const spans = await jaeger.readTrace(stack.urls.jaeger, traceId);
    return spans.some(isBlocked);
  });
  return Date.now() - endedMillis;
}

/**
 * @returns {Promise<Record<string, number>>} milliseconds until each alert was there, in the state
 *   that it begins with
 */
async function untilAlerts(stack, demo, steps, names) {
  await eventually('the service has exported', PATIENCE_MILLIS, async () => {
    const series = await prometheus.query(stack.urls.prometheus, 'event_loop_lag_seconds_count');
    return series.length > 0;
  });
  const { endedMillis } = await traced(`${demo.url}/compute-sync?steps=${steps * LONG}`);
  const until = {};
  await eventually(`${names.join(' and ')}`, PATIENCE_MILLIS, async () => {
    for (const { name } of await prometheus.alerts(stack.urls.prometheus))
      until[name] ??= Date.now() - endedMillis;
    return names.every((name) => name in until);
  });
  return until;
}

function printTimes(what, millis) {
  const sorted = millis.toSorted((a, b) => a - b);
  const seconds = (value) => (value / 1000).toFixed(1);
  const median = sorted[Math.floor(sorted.length / 2)];
  console.log(
    `${what}: median ${seconds(median)} s, longest ${seconds(sorted.at(-1))} s (${sorted.length} times)`,
  );
}

const ALERTS = ['EventLoopBlockOverOneSecond', 'EventLoopLagHigh'];
const spans = [];
const alerts = Object.fromEntries(ALERTS.map((name) => [name, []]));

for (let round = 0; round < ROUNDS; round++) {
  const stack = await startStack();
  try {
    const demo = await stack.startDemo({ OTEL_BSP_SCHEDULE_DELAY, OTEL_METRIC_EXPORT_INTERVAL });
    const { steps } = await measureSizes(demo.url, ENDPOINTS);
    for (let block = 0; block < BLOCKS / ROUNDS; block++)
      spans.push(await inJaeger(stack, demo, steps));
    const until = await untilAlerts(stack, demo, steps, ALERTS);
    for (const name of ALERTS) alerts[name].push(until[name]);
  } finally {
    await stack.stop();
  }
}
printTimes('from the end of a block to its span in Jaeger', spans);
printTimes(
  'from the end of a block of 4 s to EventLoopBlockOverOneSecond firing',
  alerts.EventLoopBlockOverOneSecond,
);
printTimes('from the end of a block of 4 s to EventLoopLagHigh pending', alerts.EventLoopLagHigh);
