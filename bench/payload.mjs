// What the telemetry of one process weighs: time series in Prometheus, bytes of one export of its
// metrics, bytes of a span. A real process, the real OTLP exporters, a receiver that counts. Needs
// the build; exit code 1 if more series come than can be.
//
//   npm run bench -- payload
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { HttpReceiver } from '../tools/http-receiver.cjs';
import { BLOCK_SPAN, readMetrics, readSpans } from '../tools/otlp.cjs';
import { answerInFreshProcess } from './support/fresh-process.mjs';

const BLOCK_MILLIS = 60;
const PILE = 3;
const FUNCTIONS = [0, 1, 10, 120];
/** 100 names and `_other`, or none at all; three kinds, or none. */
const MOST_LABEL_SETS = (101 + 1) * (3 + 1);

/** Runs the service, and returns the bodies that it sent. */
async function bodiesOf(
  /** @type {string} */ node,
  /** @type {number} */ functions,
  /** @type {string} */ protocol,
) {
  const receiver = await new HttpReceiver().start();
  try {
    const service = spawn(node, [fileURLToPath(import.meta.url), String(functions)], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...process.env,
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_METRICS_EXPORTER: 'otlp',
        OTEL_LOGS_EXPORTER: 'none',
        OTEL_SERVICE_NAME: 'payload',
        OTEL_NODE_RESOURCE_DETECTORS: 'env,host,process,serviceinstance',
      },
    });
    const [code] = await once(service, 'exit');
    if (code !== 0) throw new Error(`the service ended with ${code}`);
    return { traces: receiver.bodies('/v1/traces'), metrics: receiver.bodies('/v1/metrics') };
  } finally {
    receiver.close();
  }
}

/** A series for each bucket, `+Inf` among them, the sum and the count. */
const seriesOf = (histogram) =>
  histogram.dataPoints.reduce((sum, { explicitBounds }) => sum + explicitBounds.length + 3, 0);

async function weigh(/** @type {string} */ node) {
  const rows = [];
  for (const functions of FUNCTIONS) {
    const asJson = await bodiesOf(node, functions, 'http/json');
    const asProtobuf = await bodiesOf(node, functions, 'http/protobuf');
    const metrics = readMetrics([JSON.parse(String(asJson.metrics.at(-1)))]);
    const named = (name) => metrics.find((metric) => metric.name === name);
    const lag = named('event_loop.lag').histogram;
    const block = named('event_loop.block.duration')?.histogram;
    if ((block?.dataPoints.length ?? 0) > MOST_LABEL_SETS) process.exitCode = 1;
    const spans = readSpans(asJson.traces.map((body) => JSON.parse(String(body)))).filter(
      ({ name }) => name === BLOCK_SPAN,
    ).length;
    const exported = asProtobuf.metrics.at(-1);
    const spanBytes = asProtobuf.traces.reduce((sum, body) => sum + body.length, 0);
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

/** @type {import('./support/registry.mjs').Bench} */
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

await answerInFreshProcess(import.meta.url, block);

/**
 * The process that is weighed: so many functions block the event loop, each alone (`callback`), in
 * a promise reaction (`microtasks`) and in thirds (`pile-up`). Where its telemetry goes is up to
 * the usual OTEL_* variables.
 */
async function block(/** @type {string} */ howMany) {
  const { NodeSDK } = await import('@opentelemetry/sdk-node');
  const { EventLoopInstrumentation } = await import('opentelemetry-instrumentation-event-loop');
  const functions = Number(howMany);
  const sdk = new NodeSDK({
    instrumentations: [new EventLoopInstrumentation({ thresholdMillis: 20 })],
  });
  sdk.start();
  await sleep(200); // the watchdog is up

  for (let i = 0; i < functions; i++) {
    const name = `handleRequestOfKind${i}`;
    const { [name]: handle } = {
      [name](/** @type {number} */ millis) {
        const end = performance.now() + millis;
        while (performance.now() < end);
      },
    };
    setTimeout(() => handle(BLOCK_MILLIS), 5);
    await sleep(15);
    await Promise.resolve().then(() => handle(BLOCK_MILLIS));
    await sleep(5);
    for (let part = 0; part < PILE; part++) setImmediate(() => handle((BLOCK_MILLIS / PILE) * 0.8));
    await sleep(5);
  }
  await sleep(100);
  await sdk.shutdown();
}
