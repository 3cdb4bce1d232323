// What the telemetry of one process weighs: time series in Prometheus, bytes of one export of its metrics, bytes of a span. A real
// process, the real OTLP exporters, a receiver that counts. Needs the build; exit code 1 where more series come than can be.
//
//   npm run bench -- payload
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const SERVICE = fileURLToPath(new URL('payload-service.mjs', import.meta.url));
const FUNCTIONS = [0, 1, 10, 120];
/** 100 names and `_other`, or none at all; three kinds, or none. */
const MOST_LABEL_SETS = (101 + 1) * (3 + 1);

/** Runs the service, and returns the bodies that it sent, by path. */
async function bodiesOf(node, functions, environment) {
  const bodies = { '/v1/traces': [], '/v1/metrics': [] };
  const server = createServer(async (req, res) => {
    bodies[req.url]?.push(await buffer(req));
    res.writeHead(200).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const service = spawn(node, [SERVICE, String(functions)], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: {
        ...process.env,
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${server.address().port}`,
        OTEL_METRICS_EXPORTER: 'otlp',
        OTEL_LOGS_EXPORTER: 'none',
        OTEL_SERVICE_NAME: 'payload',
        OTEL_NODE_RESOURCE_DETECTORS: 'env,host,process,serviceinstance',
        ...environment,
      },
    });
    const [code] = await once(service, 'exit');
    if (code !== 0) throw new Error(`the service ended with ${code}`);
    return bodies;
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

const metricsOf = (body) =>
  JSON.parse(body).resourceMetrics.flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) => metrics),
  );
const spansOf = (body) =>
  JSON.parse(body).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));

/** A series for each bucket, `+Inf` among them, the sum and the count. */
const seriesOf = (histogram) =>
  histogram.dataPoints.reduce((sum, { explicitBounds }) => sum + explicitBounds.length + 3, 0);

async function weigh(/** @type {string} */ node) {
  const rows = [];
  for (const functions of FUNCTIONS) {
    const asJson = await bodiesOf(node, functions, { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' });
    const asProtobuf = await bodiesOf(node, functions, { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' });
    const metrics = metricsOf(asJson['/v1/metrics'].at(-1));
    const named = (name) => metrics.find((metric) => metric.name === name);
    const lag = named('event_loop.lag').histogram;
    const block = named('event_loop.block.duration')?.histogram;
    if ((block?.dataPoints.length ?? 0) > MOST_LABEL_SETS) process.exitCode = 1;
    const spans = asJson['/v1/traces']
      .flatMap(spansOf)
      .filter(({ name }) => name === 'event-loop-blocked').length;
    const exported = asProtobuf['/v1/metrics'].at(-1);
    const spanBytes = asProtobuf['/v1/traces'].reduce((sum, body) => sum + body.length, 0);
    rows.push([
      String(functions),
      String(seriesOf(lag)),
      String(block?.dataPoints.length ?? 0),
      String(block ? seriesOf(block) : 0),
      String(exported.length),
      String(gzipSync(exported).length),
      spans === 0 ? '' : String(Math.round(spanBytes / spans)),
    ]);
  }
  return rows;
}

/** @type {import('./registry.mjs').Bench} */
export default {
  name: 'payload',
  about: 'time series and bytes that one process sends',
  minutes: 1,
  options: {},
  async run({ nodes, report }) {
    for (const { path, version } of nodes) {
      report.table(
        `Node.js ${version}: by functions that blocked`,
        [
          'functions',
          'lag: series',
          'block: label sets',
          'block: series',
          'metrics, bytes',
          'gzip, bytes',
          'bytes a span',
        ],
        await weigh(path),
      );
    }
  },
};
