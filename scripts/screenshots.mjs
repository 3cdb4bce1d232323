// Pictures of the real web pages of a chain that runs, as in docs/stack.md: a block in Jaeger's
// trace page, and the lag in Prometheus' graph, by headless Chromium. Draws nothing itself: a
// server without its web page, as it is when built from its Go module, is an error. `node
// scripts/screenshots.mjs` beside `docker compose up`, after some minutes of load; JAEGER_URL,
// PROMETHEUS_URL and CHROMIUM name others. Writes docs/images/jaeger-trace.png and
// docs/images/prometheus-lag.png.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { getJson, sendOk } from '../tools/http-client.cjs';

const {
  JAEGER_URL = 'http://127.0.0.1:16686',
  PROMETHEUS_URL = 'http://127.0.0.1:9090',
  PATH = '',
} = process.env;
const IMAGES = join(import.meta.dirname, '../docs/images');
const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome'];
const SERVICE = 'event-loop-demo';
const BLOCKING_FUNCTION = 'buildSpans';
const LAG = 'histogram_quantile(0.99, sum by (job, le) (rate(event_loop_lag_seconds_bucket[1m])))';
/** What the pages may take to ask their server and draw, in their own time. */
const DRAWN_MILLIS = 15_000;
const LIMIT_MILLIS = 90_000;

function findChromium() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  const programs = PROGRAMS.flatMap((program) =>
    PATH.split(delimiter).map((folder) => join(folder, program)),
  );
  const found = programs.find((path) => existsSync(path));
  if (!found)
    throw new Error(`no Chromium: set CHROMIUM, or install one of ${PROGRAMS.join(', ')}`);
  return found;
}

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

function screenshot(chromium, url, file, height) {
  const profile = mkdtempSync(join(tmpdir(), 'event-loop-chromium-'));
  try {
    execFileSync(
      chromium,
      [
        '--headless',
        '--no-sandbox', // it opens nothing but these two pages, and in containers there is no other way
        '--disable-gpu',
        '--hide-scrollbars',
        `--user-data-dir=${profile}`,
        `--window-size=1280,${height}`,
        `--virtual-time-budget=${DRAWN_MILLIS}`,
        `--screenshot=${join(IMAGES, file)}`,
        url,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'], timeout: LIMIT_MILLIS },
    );
  } finally {
    rmSync(profile, { recursive: true, force: true, maxRetries: 3 });
  }
  console.log(`docs/images/${file}`);
}

try {
  const chromium = findChromium();
  await requirePage('Jaeger', JAEGER_URL, '<title>Jaeger UI</title>');
  await requirePage('Prometheus', `${PROMETHEUS_URL}/query`, '<title>');
  const trace = `${JAEGER_URL}/trace/${await newestTrace()}?uiFind=event-loop-blocked`;
  screenshot(chromium, trace, 'jaeger-trace.png', 520);
  const graph = new URLSearchParams({ 'g0.expr': LAG, 'g0.tab': 'graph', 'g0.range_input': '5m' });
  screenshot(chromium, `${PROMETHEUS_URL}/query?${graph}`, 'prometheus-lag.png', 860);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
