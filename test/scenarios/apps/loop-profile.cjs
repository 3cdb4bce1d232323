/**
 * A loop that is busy although no callback takes long: tasks of a few milliseconds, each in an entry
 * span that gets its route when it ends, as those of a framework do.
 *
 *   loop-profile.cjs busy     nearly all the time: two of three milliseconds in one route
 *   loop-profile.cjs calm     less than a third of the time
 */
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { context, SpanKind, trace } = require('@opentelemetry/api');
const { setTimeout: sleep, setImmediate: turn } = require('node:timers/promises');
const { running } = require('../../support/thread-times.cjs');
const { endPhase, eventLoopConfig, finish, note, startSdk } = require('./support/telemetry.cjs');

const INTERVAL = Symbol.for('opentelemetry-instrumentation-event-loop.profile-interval');
const SECONDS = 6;
const TASK_MILLIS = 3;

const eventLoop = new EventLoopInstrumentation(
  eventLoopConfig({ thresholdMillis: 500, [INTERVAL]: 10 }),
);
const sdk = startSdk({ instrumentations: [eventLoop] });

function renderList() {
  for (const goesOn = running(2 * TASK_MILLIS); goesOn(); );
}
function parseUser() {
  for (const goesOn = running((2 * TASK_MILLIS) / 3); goesOn(); );
}
function sign() {
  for (const goesOn = running(TASK_MILLIS / 3); goesOn(); );
}

const ROUTES = { '/list': renderList, '/users/:id': parseUser, '/sign': sign };

async function request(route, work) {
  const span = trace.getTracer('scenario').startSpan('GET', { kind: SpanKind.SERVER });
  span.setAttribute('http.request.method', 'GET');
  await context.with(trace.setSpan(context.active(), span), async () => {
    await turn();
    work();
  });
  span.setAttribute('http.route', route);
  span.end();
}

async function serve(pauseMillis) {
  const end = performance.now() + SECONDS * 1000;
  while (performance.now() < end) {
    for (const [route, work] of Object.entries(ROUTES)) {
      await request(route, work);
      if (pauseMillis > 0) await sleep(pauseMillis);
    }
  }
}

async function main([mode]) {
  await eventLoop.ready();
  await serve(mode === 'calm' ? 9 : 0);
  await eventLoop.forceFlush();
  note('profile', eventLoop.loopProfile());
  note('health', eventLoop.health(10_000));
  await endPhase('load');
  await finish(sdk);
}

main(process.argv.slice(2));
