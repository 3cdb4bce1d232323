/**
 * Requests that wait for functions whose names, files and routes are markup.
 *
 *   report-page.cjs spans     with an SDK, a span processor, and `reportFile` in code
 *   report-page.cjs blocks    no SDK: under `/console`, or with the instrumentation alone
 *   report-page.cjs nothing   the same, and nothing blocks
 */
const { runInThisContext } = require('node:vm');
const { setTimeout: sleep } = require('node:timers/promises');
const { running } = require('../../support/thread-times.cjs');

const [, , mode, file] = process.argv;
/** What would do something if it were not text. */
const HOSTILE = [
  '</script><script>window.hacked = 1</script>',
  '<!--<script>',
  '<img src=x onerror="window.hacked = 1">',
  'line\u2028paragraph\u2029',
];
const FOLDER = '/app/<b onclick=x>&amp;"\'';

/** The loops of what blocks are where most of its time is spent. */
globalThis.rows = 0;

/** Functions of these names, in files of such names. */
const functions = HOSTILE.map((name, i) => {
  const code = `({ [${JSON.stringify(name)}](goesOn) { while (goesOn()) for (let i = 0; i < 1e5; i++) rows += i % 7; } })`;
  return runInThisContext(code, { filename: `${FOLDER}/${i}.js` })[name];
});

function renderReport(millis) {
  for (const goesOn = running(millis); goesOn(); ) for (let i = 0; i < 1e5; i++) rows += i % 7;
}

async function blockByAll(around = (_route, action) => action()) {
  await around('/report', async () => {
    await sleep(40);
    // The longest by far, on a busy machine, too.
    renderReport(450);
  });
  for (const [i, block] of functions.entries()) {
    await around(`/${HOSTILE[i]}`, async () => {
      await sleep(40);
      block(running(150));
    });
  }
}

async function main() {
  // `ready()` keeps no process alive.
  const alive = setTimeout(() => {}, 60_000);
  if (mode === 'blocks') await blockByAll();
  if (mode === 'spans') await withSpans();
  await sleep(60);
  clearTimeout(alive);
}

async function withSpans() {
  const { context, SpanKind, trace } = require('@opentelemetry/api');
  const { AsyncLocalStorageContextManager } = require('@opentelemetry/context-async-hooks');
  const { TracerProvider } = require('@opentelemetry/sdk-trace');
  const {
    EventLoopInstrumentation,
    EventLoopSpanProcessor,
  } = require('opentelemetry-instrumentation-event-loop');
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(
    new TracerProvider({ spanProcessors: [new EventLoopSpanProcessor()] }),
  );
  const eventLoop = new EventLoopInstrumentation({ thresholdMillis: 50, reportFile: file });
  await eventLoop.ready();
  const tracer = trace.getTracer('app');
  const request = (route, action) =>
    tracer.startActiveSpan(
      `GET ${route}`,
      {
        kind: SpanKind.SERVER,
        root: true,
        attributes: { 'http.request.method': 'GET', 'http.route': route },
      },
      async (span) => {
        await action();
        span.end();
      },
    );
  // One is open meanwhile, and waits for it. The next two come when the loop is idle.
  await blockByAll(async (route, action) => {
    await Promise.all([request(route, action), request('/health', () => sleep(100))]);
    await sleep(5);
  });
  const name = file.replace('.html', '-now.html');
  process.stdout.write(`${await eventLoop.writeReport(name)}\n`);
  process.stdout.write(`${await eventLoop.writeReport('/proc/nothing/report.html')}\n`);
}

main();
