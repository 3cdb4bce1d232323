// `npm run demo`: starts the service, puts load on each of its endpoints, and shows what the
// service itself exported about it, and where the page of the run is. Ends with 0 when the report
// is complete, with 1 and a reason when telemetry is missing. The report goes to stdout, progress
// to stderr.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startService } from '../tools/demo-service/process.cjs';
import { freePort } from '../tools/harness.cjs';
import { BLOCK_SPAN, readTraces } from '../tools/otlp.cjs';
import { OtlpReceiver } from '../tools/otlp-receiver.cjs';
import { quantile } from '../tools/statistics.cjs';
import { showLiveness } from './liveness.mjs';
import { driveAllEndpoints, matchTraces, matchUnsampled } from './measure.mjs';
import { renderReport } from './report/index.mjs';
import { lagChart } from './report/lag-chart.mjs';
import { paint, reportWidth } from './report/style.mjs';
import { printTraces, serveByHand } from './serve.mjs';
import { LAG_METRIC, readHistogram } from './telemetry-reader.mjs';
import { missingTelemetry } from './verify.mjs';

const USAGE = `npm run demo               about 20 seconds of load, then the report
npm run demo -- --serve    keeps the service running for requests made by hand
npm run demo -- --liveness [--seconds 43]
                           one request that blocks that long, and what a liveness probe makes of it
`;
const DEADLINE_MILLIS = 180_000;
/** The page of the run, written by the service when it ends. */
const REPORT_FILE = fileURLToPath(new URL('event-loop-report.html', import.meta.url));

function readOptions() {
  const flag = /** @type {const} */ ({ type: 'boolean' });
  const seconds = /** @type {const} */ ({ type: 'string', default: '43' });
  try {
    return parseArgs({ options: { serve: flag, liveness: flag, seconds, help: flag } }).values;
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}

const write = (text) => process.stdout.write(text);

function serviceEnvironment(receiver, exportIntervalMillis) {
  return {
    HOST: '127.0.0.1',
    PORT: '0', // any free one
    OTEL_SERVICE_NAME: 'event-loop-demo',
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_METRICS_EXPORTER: 'otlp',
    OTEL_LOGS_EXPORTER: 'otlp',
    ...receiver.env,
    OTEL_INSTRUMENTATION_EVENT_LOOP_REPORT_FILE: REPORT_FILE,
    // how long the service tries to flush to a demo that is gone
    OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
    OTEL_BSP_SCHEDULE_DELAY: String(exportIntervalMillis),
    OTEL_METRIC_EXPORT_INTERVAL: '5000',
  };
}

async function serve() {
  const receiver = await OtlpReceiver.listen({ onTraces: printTraces(write) });
  const service = await startService(serviceEnvironment(receiver, 200));
  await Promise.race([serveByHand(service.url, write), service.exited]);
  await stop(service, receiver);

  const lag = readHistogram(receiver.metrics, LAG_METRIC);
  if (lag) write(`\n${lagChart(lag, reportWidth(process.stdout)).join('\n')}\n`);
}

async function liveness(seconds) {
  const receiver = await OtlpReceiver.listen();
  const livezPort = await freePort();
  const service = await startService({
    ...serviceEnvironment(receiver, 1000),
    OTEL_INSTRUMENTATION_EVENT_LOOP_HEALTH_PORT: String(livezPort),
    // Longer than the longest block that the service is to get over.
    OTEL_INSTRUMENTATION_EVENT_LOOP_HEALTH_FAIL_AFTER_MILLIS: String(2000 * seconds),
  });
  const isTold = await showLiveness(service.url, livezPort, seconds, write).finally(() =>
    stop(service, receiver),
  );
  const blocks = receiver.spans.filter(({ name }) => name === BLOCK_SPAN);
  const longest = Math.max(...blocks.map((span) => span.seconds));
  write(` Its trace has arrived, with an event-loop-blocked span of ${longest.toFixed(1)} s.\n\n`);
  if (!(isTold && longest > seconds / 2)) throw new Error('it is not what was expected');
}

/** Everything that was exported has come when this is done. */
async function stop(service, receiver) {
  try {
    await service.stop();
  } finally {
    receiver.close();
    if (service.errors())
      process.stderr.write(`The service wrote to stderr:\n${service.errors()}\n`);
  }
}

async function demo() {
  rmSync(REPORT_FILE, { force: true });
  const receiver = await OtlpReceiver.listen();
  const service = await startService(serviceEnvironment(receiver, 1000));
  const { driven, unsampled } = await driveAllEndpoints(service.url).finally(() =>
    stop(service, receiver),
  );

  const traces = readTraces(receiver.spans);
  const result = {
    phases: matchTraces(driven, traces),
    unsampled: matchUnsampled(unsampled, traces, receiver.logs),
    lag: readHistogram(receiver.metrics, LAG_METRIC),
  };
  const problems = missingTelemetry(result);
  if (problems.length > 0) throw new Error(`telemetry is missing:\n- ${problems.join('\n- ')}`);
  if (!existsSync(REPORT_FILE)) throw new Error(`the service has not written ${REPORT_FILE}`);
  write(`\n${renderReport(result, reportWidth(process.stdout))}\n\n`);
  write(`${bothSides(driven)}\n`);
  write(`All of it as a page, for a browser: ${relative(process.cwd(), REPORT_FILE)}\n`);
}

/** What the client of the health checks measured, and what the page says. */
function bothSides(driven) {
  const millis = driven.flatMap(({ health }) => health);
  const usual = quantile(millis, 0.25);
  const waited = millis.reduce((sum, each) => sum + Math.max(0, each - usual), 0);
  const [, json = ''] =
    /<script type="application\/json"[^>]*>(.*?)<\/script>/s.exec(
      readFileSync(REPORT_FILE, 'utf8'),
    ) ?? [];
  const { routes } = JSON.parse(json).summary;
  const told = routes.find(({ route }) => route === 'GET /healthcheck');
  const seconds = (/** @type {number} */ each) => `${(each / 1000).toFixed(1)} s`;
  return (
    `Health checks waited ${seconds(waited)} in all, as their client measured; ` +
    `the page says ${seconds(told.stalledMillis + told.queuedMillis)}.`
  );
}

function fail(error) {
  process.stderr.write(`${paint.bad('The demo failed:')} ${error.message}\n`);
  process.exit(1);
}

const options = readOptions();
if (options.help) {
  write(USAGE);
} else if (options.serve) {
  await serve().catch(fail);
} else if (options.liveness) {
  await liveness(Number(options.seconds)).catch(fail);
} else {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ]) {
    process.once(signal, () => process.exit(code)); // the service dies with this process
  }
  setTimeout(
    () => fail(new Error(`not done after ${DEADLINE_MILLIS / 1000} s`)),
    DEADLINE_MILLIS,
  ).unref();
  await demo().catch(fail);
}
