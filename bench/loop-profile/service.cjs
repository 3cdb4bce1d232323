// A service without a single block: requests of a few milliseconds, on six routes, that keep the
// event loop busy. Started by ../loop-profile.mjs, with an IPC channel:
//   node service.cjs
const { createHash, pbkdf2Sync } = require('node:crypto');
const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { AggregationTemporality, PeriodicExportingMetricReader } =
  require('@opentelemetry/sdk-metrics');
const { NodeSDK } = require('@opentelemetry/sdk-node');
const { BatchSpanProcessor } = require('@opentelemetry/sdk-trace');

const EXPORT_SUCCEEDED = 0;
const NEVER_MILLIS = 3_600_000;

process.env.OTEL_LOGS_EXPORTER = 'none';

/** Points of event_loop.busy.samples. */
let points = [];
const metricReader = new PeriodicExportingMetricReader({
  exportIntervalMillis: NEVER_MILLIS,
  exporter: {
    export({ scopeMetrics }, done) {
      points = scopeMetrics
        .flatMap(({ metrics }) => metrics)
        .filter(({ descriptor }) => descriptor.name === 'event_loop.busy.samples')
        .flatMap(({ dataPoints }) =>
          dataPoints.map(({ attributes, value }) => ({ attributes, value })),
        );
      done({ code: EXPORT_SUCCEEDED });
    },
    selectAggregationTemporality: () => AggregationTemporality.CUMULATIVE,
    async forceFlush() {},
    async shutdown() {},
  },
});
const eventLoop = new EventLoopInstrumentation({ loopProfile: 'busy' });
new NodeSDK({
  autoDetectResources: false,
  spanProcessors: [
    new BatchSpanProcessor({
      exporter: {
        export: (_spans, done) => done({ code: EXPORT_SUCCEEDED }),
        shutdown: async () => {},
      },
    }),
  ],
  metricReaders: [metricReader],
  instrumentations: [eventLoop, new HttpInstrumentation(), new ExpressInstrumentation()],
}).start();

const express = require('express');

const rows = Array.from({ length: 2000 }, (_, i) => ({
  id: i,
  name: `item ${(i * 7919) % 2000}`,
  price: (i * 31) % 997,
  tags: [`t${i % 7}`, `t${i % 11}`],
}));
const userText = JSON.stringify(rows);
const words = rows.map(({ name, tags }) => `${name} ${tags.join(' ')} lorem ipsum dolor`);

function renderList(count) {
  let length = 0;
  for (let turn = 0; turn < count; turn++) {
    for (const { id, name, price, tags } of rows) {
      let text = `<tr><td>${id}</td><td>${name}</td><td>${price.toFixed(2)}</td>`;
      for (const tag of tags) text += `<b>${tag}</b>`;
      length += text.length;
    }
  }
  return length;
}

function searchRows(count) {
  let found = 0;
  for (let turn = 0; turn < count; turn++) {
    for (const word of words) if (/(\d+) t(\d) (t\d+).*dolor$/.test(word)) found++;
  }
  return found;
}

function loadUser(count) {
  let size = 0;
  for (let turn = 0; turn < count; turn++) size += JSON.parse(userText).length;
  return size;
}

function sortReport(count) {
  let first = 0;
  for (let turn = 0; turn < count; turn++) {
    const copy = rows.map((row) => ({ ...row, total: row.price * row.id }));
    copy.sort((a, b) => a.total - b.total || (a.name < b.name ? -1 : 1));
    first += copy[0].id;
  }
  return first;
}

function signToken() {
  return pbkdf2Sync('password', 'salt', 12000, 64, 'sha512').toString('hex');
}

function digestFeed(count) {
  let digest = '';
  for (let turn = 0; turn < count; turn++) {
    digest = createHash('sha256')
      .update(`${digest}${words[turn % words.length]}`)
      .digest('hex');
  }
  return digest;
}

const app = express();
app.get('/list', function handleList(_request, response) {
  response.send(`${renderList(18)}`);
});
app.get('/search', function handleSearch(_request, response) {
  response.send(`${searchRows(90)}`);
});
app.get('/users/:id', function handleUser(_request, response) {
  response.send(`${loadUser(10)}`);
});
app.get('/report', function handleReport(_request, response) {
  response.send(`${sortReport(6)}`);
});
app.get('/sign', function handleSign(_request, response) {
  response.send(signToken());
});
app.get('/feed', async function handleFeed(_request, response) {
  await null;
  let digest = '';
  for (let part = 0; part < 4; part++) {
    digest += digestFeed(900);
    await null;
  }
  response.send(digest);
});

const micros = () => Number(process.hrtime.bigint() / 1000n);

process.on('message', async (message) => {
  if (message === 'read') {
    const profile = eventLoop.loopProfile();
    await eventLoop.forceFlush();
    await metricReader.forceFlush();
    process.send({
      profile,
      count: profile.samples,
      points,
      micros: micros(),
      idle: performance.nodeTiming.idleTime,
      now: performance.now(),
    });
  }
  if (message === 'end') process.disconnect();
});
process.on('disconnect', () => process.exit());

const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
server.keepAliveTimeout = NEVER_MILLIS;
