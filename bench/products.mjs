// Guarantees: what `/register` costs a whole product of `real-apps`, beside OpenTelemetry's own
// agent and beside nothing, and what Sentry and Datadog cost with and without what finds blocks:
// CPU of a light request, p99, memory, start. Linux only (/proc). `recipes` runs what
// docs/products.md says.
//
//   npm run bench -- products --app strapi --launches 5 --node /path/to/node24
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { estimate, interval, median, quantile } from '../tools/statistics.cjs';
import { installPeers } from './peers/install.mjs';
import { buildApp, installAgent, installApp } from './real-apps/support/install.mjs';
import { closedLoop, startSink } from './support/load.mjs';
import { withProduct } from './support/product.mjs';

/** A request that blocks nothing, of each product. */
const LIGHT = {
  strapi: '/api/tags?pagination[limit]=1',
  'node-red': '/health',
  payload: '/api/pages?limit=1&depth=0',
};
const PEERS = join(import.meta.dirname, 'peers/package');
const withSentry = (/** @type {string} */ finds, /** @type {string} */ url) => ({
  NODE_OPTIONS: `--require ${join(PEERS, 'sentry.cjs')}`,
  SENTRY_DSN: `${url.replace('//', '//public@')}/1`,
  SENTRY_FINDS_BLOCKS: finds,
});
const withDatadog = (/** @type {string} */ profiles, /** @type {string} */ url) => ({
  NODE_OPTIONS: `--import ${join(PEERS, 'node_modules/dd-trace/initialize.mjs')}`,
  DD_TRACE_AGENT_URL: url,
  DD_TRACE_STARTUP_LOGS: 'false',
  DD_PROFILING_ENABLED: profiles,
});
/** @type {Record<string, (url: string) => Record<string, string>>} variables of the environment */
const MODES = {
  nothing: () => ({ NODE_OPTIONS: '' }),
  'the agent': () => ({
    NODE_OPTIONS: '--import @opentelemetry/auto-instrumentations-node/register',
  }),
  '`/register`': () => ({
    NODE_OPTIONS: '--import opentelemetry-instrumentation-event-loop/register',
  }),
  '@sentry/node': (url) => withSentry('false', url),
  '@sentry/node-native': (url) => withSentry('true', url),
  'dd-trace': (url) => withDatadog('false', url),
  'dd-trace, profiling': (url) => withDatadog('true', url),
};
/** What is compared with what. */
const PAIRS = [
  ['`/register`', 'the agent'],
  ['@sentry/node-native', '@sentry/node'],
  ['dd-trace, profiling', 'dd-trace'],
];
const CONNECTIONS = 8;
const COLUMNS = {
  'CPU per request, ms': ['cpu', 2],
  'requests/s': ['rate', 0],
  'p99, ms': ['p99', 1],
  'RSS, MB': ['rss', 0],
  'start, s': ['start', 2],
};

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'products',
  about: 'what /register costs whole products: CPU, p99, memory, start (Linux)',
  minutes: 15,
  options: {
    app: { type: 'string', multiple: true, default: Object.keys(LIGHT) },
    mode: { type: 'string', multiple: true, default: Object.keys(MODES) },
    launches: { type: 'string', default: '3' },
    requests: { type: 'string', default: '1500' },
    keep: { type: 'boolean' },
  },
  async run({ nodes, options, report }) {
    report.versions(installPeers());
    installAgent(options.keep === true);
    for (const { path, version } of nodes) {
      for (const name of options.app) {
        const app = (await import(`./real-apps/${name}/app.mjs`)).default;
        const folder = installApp(name);
        buildApp(name, path, app.build ?? []);
        const readings = [];
        for (let i = 0; i < Number(options.launches); i++) {
          const modes = [...options.mode];
          if (i % 2 === 1) modes.reverse();
          const round = {};
          for (const mode of modes)
            round[mode] = await launch(app, path, folder, mode, LIGHT[name], +options.requests);
          readings.push(round);
        }
        const cells = (mode) =>
          Object.values(COLUMNS).map(([key, digits]) =>
            median(readings.map((round) => round[mode][key])).toFixed(digits),
          );
        report.table(
          `${app.title}, Node.js ${version}: medians of ${options.launches} launches`,
          ['', ...Object.keys(COLUMNS)],
          options.mode.map((mode) => [mode, ...cells(mode)]),
          readings,
        );
        for (const [mode, than] of PAIRS) {
          if (!options.mode.includes(mode) || !options.mode.includes(than)) continue;
          const more = interval(estimate(readings.map((r) => r[mode].cpu - r[than].cpu)), 2);
          report.note(`${app.title}, ${mode}: ${more} ms of CPU per request more than ${than}`);
        }
      }
    }
  },
};

async function launch(app, node, folder, mode, path, requests) {
  const collector = await startSink();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...MODES[mode](collector.url) };
  const command = (given) => [node, ...app.args(given)];
  const how = { folder, node, path, command, env: () => env };
  const agent = new Agent({ keepAlive: true });
  try {
    return await withProduct(app, how, async (running) => {
      const load = (/** @type {number} */ count) =>
        closedLoop(`${running.url}${path}`, { connections: CONNECTIONS, requests: count, agent });
      await load(requests / 3);
      const [cpuBefore, from] = [running.cpuMillis(), performance.now()];
      const latencies = await load(requests);
      return {
        start: running.startSeconds,
        cpu: (running.cpuMillis() - cpuBefore) / requests,
        rate: requests / ((performance.now() - from) / 1000),
        p99: quantile(latencies, 0.99),
        rss: rssOf(running.pid),
      };
    });
  } finally {
    agent.destroy();
    collector.close();
  }
}

const rssOf = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1000;
