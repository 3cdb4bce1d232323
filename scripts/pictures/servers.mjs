// The real web pages of a chain that runs, as in deploy/README.md: a block in Jaeger's trace page,
// and the lag in Prometheus' graph. Draws nothing itself: a server without its web page, as it is
// when built from its Go module, is an error. After some minutes of load; JAEGER_URL and
// PROMETHEUS_URL name other servers than those of `docker compose up`.
import { getJson, sendOk } from '../../tools/http-client.cjs';
import { screenshot } from './chromium.mjs';

const { JAEGER_URL = 'http://127.0.0.1:16686', PROMETHEUS_URL = 'http://127.0.0.1:9090' } =
  process.env;
const SERVICE = 'visitors';
const BLOCKING_FUNCTION = 'buildSpans';
/** What the page opens: the block, and the span that it stalled for longest. */
const OPENED = 'event-loop-blocked query';
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
  return data[0].traceID;
}

/** docs/pictures/jaeger-trace.png and docs/pictures/prometheus-lag.png */
export async function picturesOfServers() {
  await requirePage('Jaeger', JAEGER_URL, '<title>Jaeger UI</title>');
  await requirePage('Prometheus', `${PROMETHEUS_URL}/query`, '<title>');
  const trace = `${JAEGER_URL}/trace/${await newestTrace()}?${new URLSearchParams({ uiFind: OPENED })}`;
  screenshot(trace, 'jaeger-trace.png', { width: WIDTH, height: 520 });
  const graph = new URLSearchParams({ 'g0.expr': LAG, 'g0.tab': 'graph', 'g0.range_input': '5m' });
  screenshot(`${PROMETHEUS_URL}/query?${graph}`, 'prometheus-lag.png', {
    width: WIDTH,
    height: 860,
  });
}
