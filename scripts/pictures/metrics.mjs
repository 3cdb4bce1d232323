// The demo's service under load, and a real Prometheus that scrapes it: data for pictures of what
// is asked in PromQL. Needs `prometheus`, Debian's for one, on the PATH or in PROMETHEUS_BIN.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import process_ from '../../tools/demo-service/process.cjs';
import { freePort } from '../../tools/harness.cjs';
import { getJson } from '../../tools/http-client.cjs';

const TRAFFIC = join(import.meta.dirname, '../../demo/traffic.mjs');
const READY_MILLIS = 30_000;

/**
 * The SDK's Prometheus exporter leaves the unit out of the names that the Collector, and
 * Prometheus' own OTLP receiver, give these metrics, and what the service is called is no label.
 */
const configuration = (target) => `
global: { scrape_interval: 5s }
scrape_configs:
  - job_name: event-loop-demo
    static_configs: [{ targets: ['${target}'], labels: { instance: demo-1 } }]
    metric_relabel_configs:
      - source_labels: [__name__]
        regex: (event_loop_.+|http_server_request)(_duration|_lag|)_(bucket|sum|count)
        replacement: \${1}\${2}_seconds_\${3}
        target_label: __name__
      - source_labels: [__name__]
        regex: (event_loop_stall_caused)_total
        replacement: \${1}_seconds_total
        target_label: __name__
`;

/**
 * Runs the load for as long as is asked for, then calls back while Prometheus still answers.
 * @template T
 * @param {number} millis
 * @param {(query: Query, range: { start: number, end: number }) => Promise<T>} use times in seconds
 * @typedef {(path: string, parameters: Record<string, string | number>) => Promise<any[]>} Query
 * @returns {Promise<T>}
 */
export async function withMetrics(millis, use) {
  const folder = mkdtempSync(join(tmpdir(), 'event-loop-pictures-'));
  const [exporter, port] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  writeFileSync(join(folder, 'prometheus.yml'), configuration(`127.0.0.1:${exporter}`));
  const children = [];
  const start = (command, args) => {
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      errors = (errors + chunk).slice(-2000);
    });
    children.push(child);
    return new Promise((_, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`${command} ended with ${code}:\n${errors}`)));
    });
  };
  const service = await process_.startService({
    OTEL_SERVICE_NAME: 'event-loop-demo',
    OTEL_TRACES_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'none',
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
    OTEL_EXPORTER_PROMETHEUS_PORT: String(exporter),
    OTEL_SEMCONV_STABILITY_OPT_IN: 'http',
  });
  try {
    const ended = [
      start(process.env.PROMETHEUS_BIN ?? 'prometheus', [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ]),
      start(process.execPath, [TRAFFIC, service.url]),
    ];
    const begin = Date.now();
    const run = async () => {
      await ready(url);
      await pause(millis);
      const query = async (path, parameters) => {
        const { status, data } = await getJson(
          `${url}/api/v1/${path}?${new URLSearchParams(parameters)}`,
        );
        if (status !== 'success') throw new Error(`Prometheus answered ${status}`);
        return data.result;
      };
      return await use(query, { start: begin / 1000, end: Date.now() / 1000 });
    };
    return await Promise.race([run(), ...ended]);
  } finally {
    for (const child of children) {
      child.removeAllListeners('exit');
      child.kill();
    }
    await service.stop().catch(() => {});
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function ready(url) {
  const deadline = Date.now() + READY_MILLIS;
  for (;;) {
    try {
      return await getJson(`${url}/api/v1/status/buildinfo`);
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await pause(200);
    }
  }
}
