// `npm run check -- pictures`: makes docs/pictures/ anew, with Chromium. `report` is the page of a
// run of the demo, in both themes; `jaeger` and `prometheus` are the web pages of the chain of
// deploy/README.md after some minutes of load. JAEGER_URL and PROMETHEUS_URL name other servers
// than those of `docker compose up`. Without names, servers that do not run are left out.
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { findChromium } from '../tools/chromium.cjs';
import { getJson, sendOk } from '../tools/http-client.cjs';

const ROOT = join(import.meta.dirname, '..');
const PAGE = join(ROOT, 'demo/event-loop-report.html');
const { JAEGER_URL = 'http://127.0.0.1:16686', PROMETHEUS_URL = 'http://127.0.0.1:9090' } =
  process.env;
const SERVICE = 'event-loop-demo';
const BLOCKING_FUNCTION = 'buildSpans';
/** The spans that the page opens: a query that had to wait, and the block that it waited for. */
const OPENED = ['query orders', 'event-loop-blocked'];
const LAG = 'histogram_quantile(0.99, sum by (job, le) (rate(event_loop_lag_seconds_bucket[1m])))';
const MAKERS = { report: reportPage, jaeger: jaegerTrace, prometheus: prometheusLag };

const asked = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: findChromium(),
  // In containers there is no sandbox.
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});
try {
  for (const name of asked.length > 0 ? asked : Object.keys(MAKERS)) {
    if (!Object.hasOwn(MAKERS, name)) throw new Error(`${name}: one of ${Object.keys(MAKERS)}`);
    try {
      await MAKERS[name]();
    } catch (error) {
      if (asked.length > 0 || name === 'report') throw error;
      console.log(`${name}: left out, ${error.message}`);
    }
  }
} finally {
  await browser.close();
}

async function screenshot(url, file, [width, height], colorScheme = 'light') {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme });
  await page.goto(url, { waitUntil: 'networkidle' });
  const path = join(ROOT, 'docs/pictures', file);
  await page.screenshot({ path });
  console.log(`docs/pictures/${file}: ${Math.round(statSync(path).size / 1024)} KiB`);
}

async function reportPage() {
  if (!existsSync(PAGE))
    execFileSync(process.execPath, [join(ROOT, 'demo/run.mjs')], { stdio: 'ignore' });
  for (const theme of ['light', 'dark'])
    await screenshot(pathToFileURL(PAGE).href, `report-${theme}.png`, [1180, 1020], theme);
}

async function jaegerTrace() {
  await requirePage('Jaeger', JAEGER_URL, '<title>Jaeger UI</title>');
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
  const [{ traceID, spans }] = data;
  const opened = spans.filter(({ operationName }) => OPENED.includes(operationName));
  const find = new URLSearchParams({ uiFind: opened.map(({ spanID }) => spanID).join(' ') });
  // This is high enough to show all of it: the page does not scroll to what it opens then.
  await screenshot(`${JAEGER_URL}/trace/${traceID}?${find}`, 'jaeger-trace.png', [1280, 830]);
}

async function prometheusLag() {
  await requirePage('Prometheus', `${PROMETHEUS_URL}/query`, '<title>');
  const graph = new URLSearchParams({ 'g0.expr': LAG, 'g0.tab': 'graph', 'g0.range_input': '5m' });
  await screenshot(`${PROMETHEUS_URL}/query?${graph}`, 'prometheus-lag.png', [1280, 860]);
}

/** A server that is built from its Go module has no web page. */
async function requirePage(name, url, title) {
  const page = String((await sendOk(url)).body);
  if (!page.includes(title)) throw new Error(`${name} at ${url} was built without its web page`);
}
