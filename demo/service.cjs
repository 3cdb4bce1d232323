// A small service with the endpoints of published event loop incidents. The `/compute-*` endpoints
// do the same work and differ in how they get from one step to the next; `/report` has a worker.
// By itself: `OTEL_METRICS_EXPORTER=otlp PORT=3000`
//   `node --require ./demo/telemetry.cjs demo/service.cjs`
const { createHash, randomUUID } = require('node:crypto');
const path = require('node:path');
const timers = require('node:timers/promises');
const { promisify } = require('node:util');
const { Worker } = require('node:worker_threads');
const { context, propagation, trace } = require('@opentelemetry/api');
const express = require('express');

const app = express();
const tracer = trace.getTracer('demo-service');
const QUERY_MILLIS = 40;
const nextTick = promisify(process.nextTick);

function hashRandomStrings(hash) {
  for (let i = 0; i < 4000; i++) hash.update(randomUUID());
}

async function hashRandomStringsAsync(hash) {
  hashRandomStrings(hash);
}

/** A positive whole number from the query string. */
function count(value, fallback) {
  const number = Number(value);
  return Number.isSafeInteger(number) && number > 0 ? number : fallback;
}

app.get('/compute-sync', (req, res) => {
  const hash = createHash('sha256');
  for (let step = count(req.query.steps, 200); step > 0; step--) hashRandomStrings(hash);
  res.json({ digest: hash.digest('hex') });
});

app.get('/compute-async', async (req, res) => {
  const hash = createHash('sha256');
  for (let step = count(req.query.steps, 200); step > 0; step--) await hashRandomStringsAsync(hash);
  res.json({ digest: hash.digest('hex') });
});

app.get('/compute-with-next-tick', async (req, res) => {
  const hash = createHash('sha256');
  for (let step = count(req.query.steps, 200); step > 0; step--) {
    hashRandomStrings(hash);
    await nextTick();
  }
  res.json({ digest: hash.digest('hex') });
});

app.get('/compute-with-set-immediate', async (req, res) => {
  const hash = createHash('sha256');
  for (let step = count(req.query.steps, 200); step > 0; step--) {
    hashRandomStrings(hash);
    await timers.setImmediate();
  }
  res.json({ digest: hash.digest('hex') });
});

app.get('/compute-with-set-timeout', async (req, res) => {
  const hash = createHash('sha256');
  for (let step = count(req.query.steps, 200); step > 0; step--) {
    hashRandomStrings(hash);
    await timers.setTimeout(0);
  }
  res.json({ digest: hash.digest('hex') });
});

function readLogRows(howMany) {
  return Array.from({ length: howMany }, (_, i) => ({
    id: `row-${i}`,
    parentId: `row-${Math.floor(i / 2)}`,
    name: `operation ${i}`,
  }));
}

function buildSpans(rows) {
  return rows.map((row) => ({ ...row, parent: rows.find((other) => other.id === row.parentId) }));
}

app.get('/nested-loop', (req, res) => {
  tracer.startActiveSpan('build spans from log rows', (span) => {
    const spans = buildSpans(readLogRows(count(req.query.rows, 10_000)));
    span.setAttribute('demo.rows', spans.length);
    span.end();
    res.json({ spans: spans.length });
  });
});

app.post('/big-json', express.json({ limit: '200mb' }), (req, res) => {
  res.json({ orders: req.body.length });
});

/** Writes one report after the other, in a thread of its own. */
let reportThread;
const reports = [];

function startReportThread() {
  const thread = new Worker(path.join(__dirname, 'report-thread.cjs'), {
    name: 'reports',
    env: { ...process.env, OTEL_METRICS_EXPORTER: 'none' }, // the demo charts the main thread
  });
  thread.on('message', (length) => reports.shift()?.resolve(length));
  thread.on('error', (error) => {
    reportThread = undefined;
    for (const { reject } of reports.splice(0)) reject(error);
  });
  return thread;
}

app.get('/report', async (req, res) => {
  reportThread ??= startReportThread();
  const headers = {};
  propagation.inject(context.active(), headers);
  const length = await new Promise((resolve, reject) => {
    reports.push({ resolve, reject });
    reportThread.postMessage({ headers, rows: count(req.query.rows, 10_000) });
  });
  res.json({ length });
});

/** Waits for its database, and does next to nothing itself. */
app.get('/orders', async (_req, res) => {
  await tracer.startActiveSpan('query orders', async (span) => {
    await timers.setTimeout(QUERY_MILLIS);
    span.end();
  });
  res.json([]);
});

app.get('/healthcheck', (_req, res) => {
  res.json({ status: 'ok' });
});

const server = app.listen(
  Number(process.env.PORT ?? 0),
  process.env.HOST ?? '127.0.0.1',
  (error) => {
    if (error) throw error;
    const { address, port } = server.address();
    console.log(`listening on http://${address}:${port}`);
  },
);
