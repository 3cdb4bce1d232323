// The real web pages of a chain that runs, as in deploy/README.md: a block in Jaeger's trace page,
// and the lag in Prometheus' graph. Draws nothing itself: a server without its web page, as it is
// when built from its Go module, is an error. After some minutes of load; JAEGER_URL and
// PROMETHEUS_URL name other servers than those of `docker compose up`.
import { getJson, sendOk } from '../../tools/http-client.cjs';
import { screenshot } from './chromium.mjs';

const { JAEGER_URL = 'http://127.0.0.1:16686', PROMETHEUS_URL = 'http://127.0.0.1:9090' } =
  process.env;
const SERVICE = 'event-loop-demo';
const BLOCKING_FUNCTION = 'buildSpans';
/** The spans that the page opens: a query that had to wait, and the block that it waited for. */
const OPENED = ['query orders', 'event-loop-blocked'];
const LAG = 'histogram_quantile(0.99, sum by (job, le) (rate(event_loop_lag_seconds_bucket[1m])))';
const WIDTH = 1280;

async function requirePage(name, url, title) {
  const page = String((await sendOk(url)).body);
  if (!page.includes(title)) throw new Error(`${name} at ${url} was built without its web page`);
}

async function newestTrace() {
  const query = new URLSearchParams({
    service: SERVICE,
    operation: 'event-loop-blocked',
    tags: JSON.stringify({ 'code.function.name': BLOCKING_FUNCTION }),
    lookback: '1h',
    limit: '1',
  });
  const { data } = await getJson(`${JAEGER_URL}/api/traces?${query}`);
  if (!data?.length)
    throw new Error(`Jaeger has no trace with a block in ${BLOCKING_FUNCTION} yet`);
  return data[0];
}

/** docs/pictures/jaeger-trace.png */
export async function pictureOfJaeger() {
  await requirePage('Jaeger', JAEGER_URL, '<title>Jaeger UI</title>');
  const { traceID, spans } = await newestTrace();
  const opened = spans.filter(({ operationName }) => OPENED.includes(operationName));
  const query = new URLSearchParams({ uiFind: opened.map(({ spanID }) => spanID).join(' ') });
  // So high that all of it is seen: the page does not scroll to what it opens then.
  screenshot(`${JAEGER_URL}/trace/${traceID}?${query}`, 'jaeger-trace.png', {
    width: WIDTH,
    height: 830,
  });
}

/** docs/pictures/prometheus-lag.png */
export async function pictureOfPrometheus() {
  await requirePage('Prometheus', `${PROMETHEUS_URL}/query`, '<title>');
  const graph = new URLSearchParams({ 'g0.expr': LAG, 'g0.tab': 'graph', 'g0.range_input': '5m' });
  screenshot(`${PROMETHEUS_URL}/query?${graph}`, 'prometheus-lag.png', {
    width: WIDTH,
    height: 860,
  });
}
