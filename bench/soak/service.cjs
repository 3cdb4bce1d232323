/**
 * The service that is soaked. It keeps a ledger of its own, as JSON lines in a file: every block it
 * was asked for, every time at which its own timer came late, its memory; and beside it what the
 * telemetry says. Started by soak.mjs: `node --expose-gc service.cjs <ledger>`.
 */
const { once } = require('node:events');
const fs = require('node:fs');
const path = require('node:path');
const { setTimeout: wait, setImmediate: nextIteration } = require('node:timers/promises');
const { Worker } = require('node:worker_threads');
const { trace } = require('@opentelemetry/api');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { NodeSDK } = require('@opentelemetry/sdk-node');
const {
  EventLoopInstrumentation,
  EventLoopSpanProcessor,
} = require('opentelemetry-instrumentation-event-loop');
const { SPAN_NAME, THRESHOLD_MILLIS, WITNESS_MILLIS } = require('./limits.cjs');

process.env.OTEL_LOGS_EXPORTER = 'none';
process.env.OTEL_METRICS_EXPORTER = 'none';

const MEMORY_EVERY_MILLIS = 5000;
const BEAT_MILLIS = 5;

const file = fs.openSync(process.argv[2], 'a');
const write = (line) => fs.writeSync(file, `${JSON.stringify(line)}\n`);
const monotonic = () => performance.timeOrigin + performance.now();
const millisOf = ([seconds, nanos]) => seconds * 1e3 + nanos / 1e6;

const ours = () =>
  new EventLoopInstrumentation({ thresholdMillis: THRESHOLD_MILLIS, maxSpansPerMinute: 60_000 });

const listener = {
  onStart() {},
  onEnd(span) {
    if (span.name !== SPAN_NAME) return;
    write({
      type: 'reported',
      start: millisOf(span.startTime),
      millis: millisOf(span.duration),
      kind: span.attributes['event_loop.block.kind'],
      traceId: span.spanContext().traceId,
    });
  },
  async forceFlush() {},
  async shutdown() {},
};
const isWithout = process.env.SOAK_WITHOUT === '1';
new NodeSDK({
  autoDetectResources: false,
  spanProcessors: isWithout ? [listener] : [new EventLoopSpanProcessor(), listener],
  instrumentations: [new HttpInstrumentation(), ...(isWithout ? [] : [ours()])],
}).start();
const http = require('node:http');
const { BLOCKS, work } = require('./blocks.cjs');

/** Writes down when `run` began and ended, by the monotonic and by the wall clock. */
function truthOf(kind) {
  const traceId = trace.getActiveSpan()?.spanContext().traceId;
  return (run) => {
    const [start, wallStart, cpu] = [monotonic(), Date.now(), process.cpuUsage()];
    const ended = () => {
      const millis = monotonic() - start;
      const { user, system } = process.cpuUsage(cpu);
      write({
        type: 'truth',
        kind,
        start,
        millis,
        wallStart,
        cpuMillis: (user + system) / 1000,
        traceId,
      });
    };
    const result = run();
    if (!(result instanceof Promise)) {
      ended();
      return result;
    }
    return result.then(ended);
  };
}

const server = http.createServer(async (request, response) => {
  const url = new URL(request.url, 'http://localhost');
  const kind = url.searchParams.get('kind');
  if (kind !== null) {
    await BLOCKS[kind](Number(url.searchParams.get('millis')), truthOf(kind));
  } else {
    // The load: a few turns of the loop, some of them with a little work.
    await nextIteration();
    work(Math.random());
    if (Math.random() < 0.3) await fs.promises.stat(__filename);
    if (Math.random() < 0.1) await wait(10);
  }
  response.end('ok');
});

/** A witness of every delay: those that the machine causes are no false positives either. */
let due = monotonic() + BEAT_MILLIS;
setInterval(() => {
  const now = monotonic();
  if (now - due >= WITNESS_MILLIS)
    write({ type: 'delay', start: due - BEAT_MILLIS, millis: now - due + BEAT_MILLIS });
  due = now + BEAT_MILLIS;
}, BEAT_MILLIS).unref();

setInterval(() => {
  const start = monotonic();
  globalThis.gc();
  write({ type: 'delay', start, millis: monotonic() - start });
  write({
    type: 'memory',
    at: monotonic(),
    heapUsed: process.memoryUsage().heapUsed,
    rss: process.memoryUsage.rss(),
    handles: process.getActiveResourcesInfo().length,
    threads: fs.existsSync('/proc/self/task') ? fs.readdirSync('/proc/self/task').length : 0,
  });
}, MEMORY_EVERY_MILLIS).unref();

// It never returns to its own loop, so it ends only with the process.
new Worker(path.join(__dirname, 'witness.cjs'), {
  workerData: { ledger: process.argv[2] },
}).unref();

async function main() {
  // A connection that the server closes while a request is on its way is an error of the client.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.on('disconnect', () => process.exit());
  process.send({ port: server.address().port, kinds: Object.keys(BLOCKS) });
}
main();
