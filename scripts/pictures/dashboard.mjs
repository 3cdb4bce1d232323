// The shipped dashboard with data of a real run, without a Grafana server: its queries are asked of
// a real Prometheus, its panels are drawn by the components that Grafana publishes on npm, with the
// options that the dashboard has. What it is stands on the picture. Needs `prometheus` and
// Chromium, and npm for Grafana's packages, which go to .pictures/ (git ignores it).
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import dashboardQueries from '../../tools/dashboard-queries.cjs';
import { npm } from '../../tools/npm.cjs';
import { screenshot } from './chromium.mjs';
import { withMetrics } from './metrics.mjs';

const ROOT = join(import.meta.dirname, '../..');
const STATE = join(ROOT, '.pictures');
const DASHBOARD = join(ROOT, 'deploy/grafana/dashboards/event-loop.json');
const PAGE = join(import.meta.dirname, 'dashboard-page.mjs');
const GRAFANA = '13.2.2';
const PACKAGES = {
  '@grafana/data': GRAFANA,
  '@grafana/schema': '13.2.1',
  '@grafana/ui': GRAFANA,
  react: '18.3.1',
  'react-dom': '18.3.1',
  rxjs: '7.8.2',
};
const LOAD_MILLIS = 300_000;
const STEP_SECONDS = 10;
const COLUMNS = 24;
const SIZE = { width: 1400, height: 0 };
const SIX = [0, 4, 8, 12, 16, 20];

/** What the picture shows, and where. Tables of traces need Tempo, the heatmap needs Grafana. */
const ARRANGEMENT = new Map([
  ...[
    'Lag, p99',
    'Time blocked, worst instance',
    'Blocks',
    'Longest block',
    'Requests stalled for over 100 ms',
    'Ongoing blocks',
  ].map((title, index) => [title, { x: SIX[index], y: 0, w: 4, h: 4 }]),
  ['Lag', { x: 0, y: 4, w: 12, h: 7 }],
  ['Blocks, by kind', { x: 12, y: 4, w: 12, h: 7 }],
  ['Top blocking functions', { x: 0, y: 11, w: 17, h: 6 }],
  ['Stall and latency, p99', { x: 17, y: 11, w: 7, h: 6 }],
]);
const ROWS = 17;

function install() {
  mkdirSync(STATE, { recursive: true });
  const manifest = { private: true, dependencies: PACKAGES };
  writeFileSync(join(STATE, 'package.json'), JSON.stringify(manifest));
  // Grafana's packages ask for peers that are only needed inside Grafana.
  npm(['install', '--legacy-peer-deps', '--prefer-offline', '--no-package-lock'], STATE);
}

async function bundle() {
  const { outputFiles } = await build({
    entryPoints: [PAGE],
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    nodePaths: [join(STATE, 'node_modules')],
    outdir: STATE,
    define: { 'process.env.NODE_ENV': '"production"', global: 'globalThis' },
    loader: { '.svg': 'dataurl', '.png': 'dataurl', '.woff2': 'dataurl', '.ttf': 'empty' },
    logLevel: 'error',
  });
  const textOf = (end) => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? '';
  return { script: textOf('.js'), style: textOf('.css') };
}

/** The answers to the dashboard's queries, by panel and `refId`. */
async function answers(query, { start, end }) {
  const range = Math.ceil(end - start);
  const expressions = dashboardQueries.expressions({
    __interval: `${STEP_SECONDS}s`,
    __interval_ms: String(STEP_SECONDS * 1000),
    __rate_interval: `${4 * STEP_SECONDS}s`,
    __range: `${range}s`,
    __range_s: String(range),
  });
  const found = new Map();
  for (const { from, kind, range: isRange, query: expression } of expressions) {
    if (kind !== 'promql' || !from.startsWith('panel ')) continue;
    const result = isRange
      ? await query('query_range', { query: expression, start, end, step: STEP_SECONDS })
      : await query('query', { query: expression, time: end });
    found.set(from, result);
  }
  return found;
}

function panelsWith(found) {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8'));
  const shown = panels.filter(({ title, targets }) => targets && ARRANGEMENT.has(title));
  const metrics = shown.filter(({ targets }) =>
    targets.every(({ datasource }) => datasource.type === 'prometheus'),
  );
  if (metrics.length !== ARRANGEMENT.size)
    throw new Error('the dashboard lacks a panel that the picture shows');
  return metrics.map(({ title, type, options, fieldConfig, targets }) => ({
    title,
    type,
    options,
    fieldConfig,
    gridPos: ARRANGEMENT.get(title),
    queries: targets.map(({ refId, legendFormat }) => ({
      refId,
      legendFormat,
      result: found.get(`panel "${title}" ${refId}`) ?? [],
    })),
  }));
}

/** docs/pictures/dashboard.png */
export async function pictureOfDashboard() {
  install();
  const { script, style } = await bundle();
  const picture = await withMetrics(LOAD_MILLIS, async (query, range) => ({
    ...range,
    panels: panelsWith(await answers(query, range)),
    columns: COLUMNS,
    rows: ROWS,
    width: SIZE.width,
    note:
      `Panels of deploy/grafana/dashboards/event-loop.json with data of ${LOAD_MILLIS / 60_000} ` +
      `minutes of the demo, drawn by @grafana/ui ${GRAFANA}. Not a screenshot of Grafana.`,
  }));
  const data = JSON.stringify(picture).replaceAll('<', '\\u003c');
  const page = join(STATE, 'dashboard.html');
  writeFileSync(
    page,
    `<!doctype html><meta charset="utf-8"><style>${style}</style><body><div id="root"></div>` +
      `<script>globalThis.PICTURE = ${data}</script>` +
      `<script>${script.replaceAll('</script', '<\\/script')}</script>`,
  );
  screenshot(pathToFileURL(page).href, 'dashboard.png', { ...SIZE, height: ROWS * 38 + 8 + 32 });
}
