// A service in which two functions block now and then, and whose requests do not. It says when it
// blocked. Over HTTP/1.1 it knows nothing of OpenTelemetry; over HTTP/2 it makes its spans itself.
//
//   node service.cjs 1|2 '[{"name":"short","millis":80,"every":700},…]'
const { performance } = require('node:perf_hooks');
const { setTimeout: sleep } = require('node:timers/promises');

const [, , version, blockers] = process.argv;
const unix = () => performance.timeOrigin + performance.now();

/** @type {{ name: string, start: number, end: number }[]} */
const blocked = [];
const work = {
  short: (/** @type {number} */ until) => {
    while (performance.now() < until);
  },
  long: (/** @type {number} */ until) => {
    while (performance.now() < until);
  },
};
for (const { name, millis, every } of JSON.parse(blockers ?? '')) {
  const next = () =>
    void setTimeout(
      () => {
        const start = unix();
        work[/** @type {keyof typeof work} */ (name)](performance.now() + millis);
        blocked.push({ name, start, end: unix() });
        next();
      },
      every * (0.5 + Math.random()),
    );
  setTimeout(next, 1000);
}

const answer = async (/** @type {string} */ path) => {
  if (path === '/slow') await sleep(8);
};

function http1() {
  const express = require('express');
  const app = express();
  for (const path of ['/fast', '/slow'])
    app.get(path, async (/** @type {any} */ _request, /** @type {any} */ response) => {
      await answer(path);
      response.end('done');
    });
  return require('node:http').createServer({ keepAliveTimeout: 0 }, app);
}

function http2() {
  const { SpanKind, trace } = require('@opentelemetry/api');
  const { TracerProvider } = require('@opentelemetry/sdk-trace');
  const {
    EventLoopInstrumentation,
    EventLoopSpanProcessor,
  } = require('opentelemetry-instrumentation-event-loop');
  new EventLoopInstrumentation({ thresholdMillis: 50, console: 'json' });
  trace.setGlobalTracerProvider(
    new TracerProvider({ spanProcessors: [new EventLoopSpanProcessor()] }),
  );
  const tracer = trace.getTracer('service');
  return require('node:http2')
    .createServer()
    .on('stream', async (/** @type {any} */ stream, /** @type {any} */ headers) => {
      const path = headers[':path'];
      const span = tracer.startSpan('GET', {
        kind: SpanKind.SERVER,
        attributes: { 'http.request.method': 'GET', 'http.route': path },
      });
      await answer(path);
      stream.respond({ ':status': 200 });
      stream.end('done');
      span.end();
    });
}

const server = version === '2' ? http2() : http1();
server.listen(0, '127.0.0.1', () => process.send?.(server.address().port));
process.once('message', () => {
  process.send?.(blocked, () => process.exit());
});
