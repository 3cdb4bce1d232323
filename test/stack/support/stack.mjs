// The whole chain on free loopback ports, with the configuration files that are shipped: what
// docker-compose.yml sets by environment variables is set here to other addresses, and nothing else
// differs. What the servers store goes when they stop.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startService } from '../../../tools/demo-service/process.cjs';
import { freePorts } from '../../../tools/harness.cjs';
import { OtlpReceiver } from '../../../tools/otlp-receiver.cjs';
import { install } from '../servers/install.mjs';
import { composeEnvironment } from './compose.mjs';
import { startServer } from './server.mjs';

export const ROOT = resolve(import.meta.dirname, '../../..');
const inRoot = (file) => join(ROOT, file);
const loopback = (port) => `127.0.0.1:${port}`;

/** Where servers store something; run.mjs empties it, should a test have been killed. */
const DATA = inRoot('.stack/data');

export const COLLECTOR_CONFIG = inRoot('collector-config.yaml');
export const TAIL_SAMPLING_CONFIG = inRoot('deploy/tail-sampling/collector-config.yaml');

/**
 * Exports at once, so that the test has not to wait; everything else is as in docker-compose.yml.
 */
const FAST_EXPORT = { OTEL_BSP_SCHEDULE_DELAY: '200', OTEL_METRIC_EXPORT_INTERVAL: '1000' };

/**
 * @typedef {object} Options
 * @property {Record<string, string>} [collector] environment of the collector, in place of what
 *   compose sets
 * @property {string[]} [collectorArguments]
 * @property {boolean} [tailSampling] with the second configuration file
 * @property {boolean} [collectorOnly] without Jaeger and Prometheus
 *
 * @typedef {Awaited<ReturnType<typeof startStack>>} Stack
 *
 * @param {Options} [options]
 */
export async function startStack(options = {}) {
  mkdirSync(DATA, { recursive: true });
  const folder = mkdtempSync(join(DATA, 'stack-'));
  const ports = await freePorts(9);
  const [
    grpc,
    http,
    health,
    jaegerOtlp,
    jaegerHttp,
    jaegerGrpc,
    jaegerHealth,
    tempoOtlp,
    prometheus,
  ] = ports;
  const urls = {
    collector: `http://${loopback(http)}`,
    collectorHealth: `http://${loopback(health)}`,
    jaeger: `http://${loopback(jaegerHttp)}`,
    prometheus: `http://${loopback(prometheus)}`,
  };
  /**
   * The services first, which send what they still have. What the servers have stored is not needed
   * any more.
   */
  const services = [];
  const servers = [];

  async function started(starting) {
    const server = await starting;
    servers.push(server);
    return server;
  }

  async function startCollector() {
    const { otelcol } = await install('collector');
    const configs = options.tailSampling
      ? [COLLECTOR_CONFIG, TAIL_SAMPLING_CONFIG]
      : [COLLECTOR_CONFIG];
    const env = {
      ...composeEnvironment('collector'),
      COLLECTOR_OTLP_GRPC_LISTEN: loopback(grpc),
      COLLECTOR_OTLP_HTTP_LISTEN: loopback(http),
      COLLECTOR_HEALTH_LISTEN: loopback(health),
      COLLECTOR_QUEUE_DIRECTORY: join(folder, 'collector'),
      JAEGER_OTLP_GRPC_ENDPOINT: loopback(jaegerOtlp),
      TEMPO_OTLP_HTTP_ENDPOINT: `http://${loopback(tempoOtlp)}`,
      PROMETHEUS_OTLP_ENDPOINT: `${urls.prometheus}/api/v1/otlp`,
      ...options.collector,
    };
    const { collectorArguments = [] } = options;
    const command = [
      otelcol,
      ...configs.map((config) => `--config=${config}`),
      ...collectorArguments,
    ];
    return started(startServer('the collector', command, env, urls.collectorHealth));
  }

  async function startJaeger() {
    const { jaeger } = await install('jaeger');
    const env = {
      ...composeEnvironment('jaeger'),
      JAEGER_OTLP_GRPC_LISTEN: loopback(jaegerOtlp),
      JAEGER_QUERY_HTTP_LISTEN: loopback(jaegerHttp),
      JAEGER_QUERY_GRPC_LISTEN: loopback(jaegerGrpc),
      JAEGER_HEALTH_LISTEN: loopback(jaegerHealth),
    };
    const command = [jaeger, `--config=${inRoot('deploy/jaeger/jaeger.yaml')}`];
    return started(startServer('Jaeger', command, env, `http://${loopback(jaegerHealth)}/status`));
  }

  async function startPrometheus() {
    const programs = await install('prometheus');
    const config = join(folder, 'prometheus-config');
    cpSync(inRoot('deploy/prometheus'), config, { recursive: true });
    const command = [
      programs.prometheus,
      `--config.file=${join(config, 'prometheus.yaml')}`,
      `--web.listen-address=${loopback(prometheus)}`,
      '--web.enable-otlp-receiver',
      `--storage.tsdb.path=${join(folder, 'prometheus')}`,
    ];
    return started(startServer('Prometheus', command, {}, `${urls.prometheus}/-/ready`));
  }

  /** Takes what the collector sends to Tempo. */
  async function startTempo() {
    const receiver = await OtlpReceiver.listen({ port: tempoOtlp });
    servers.push({ kill: async () => receiver.close() });
  }

  async function stop() {
    const endings = [
      ...(await Promise.allSettled(services.map((service) => service.stop()))),
      ...(await Promise.allSettled(servers.map((server) => server.kill()))),
    ];
    rmSync(folder, { recursive: true, force: true });
    const problems = endings
      .filter(({ status }) => status === 'rejected')
      .map(({ reason }) => reason.message);
    if (problems.length > 0) throw new Error(problems.join('\n'));
  }

  try {
    const backends = await Promise.allSettled(
      options.collectorOnly ? [] : [startTempo(), startJaeger(), startPrometheus()],
    );
    const failed = backends.find(({ status }) => status === 'rejected');
    if (failed) throw failed.reason;
    const collector = await startCollector();
    return {
      urls,
      collector,
      startCollector,
      stop,

      /**
       * The demo service, exporting to the collector.
       * @param {Record<string, string>} [env]
       */
      async startDemo(env = {}) {
        const service = await startService({
          ...composeEnvironment('demo'),
          HOST: '127.0.0.1',
          PORT: '0',
          OTEL_EXPORTER_OTLP_ENDPOINT: urls.collector,
          ...FAST_EXPORT,
          ...env,
        });
        services.push(service);
        return service;
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
