/**
 * A loop that is busy although no callback takes long: tasks of a few milliseconds, each in an
 * entry span that gets its route when it ends, as those of a framework do.
 *
 *   loop-profile.cjs busy     nearly all the time: four of seven milliseconds in one route
 *   loop-profile.cjs calm     an eighth of the time, so that a machine short of CPUs does not
 *                             make a busy loop of it
 */
const { context, SpanKind, trace } = require('@opentelemetry/api');
const { setTimeout: sleep, setImmediate: turn } = require('node:timers/promises');
const { running } = require('../../support/thread-times.cjs');
const { endPhase, finish, note, ready, startInstrumented } = require('./support/telemetry.cjs');

/** In the first minute of an overload there are five to eight samples a second. */
const SECONDS = { busy: 24, calm: 6 };
const TASK_MILLIS = 5;
const TURNS = 100_000;
/** How long each route has run, as the app knows it. */
const used = {};

const { eventLoop, sdk } = startInstrumented({ thresholdMillis: 500 });

/** Each has a loop of its own: nearly all of its time is spent there. */
function renderList() {
  let rows = 0;
  for (const goesOn = running(4 * TASK_MILLIS); goesOn(); )
    for (let i = 0; i < TURNS; i++) rows += i % 7;
  return rows;
}
function parseUser() {
  let users = 0;
  for (const goesOn = running(2 * TASK_MILLIS); goesOn(); )
    for (let i = 0; i < TURNS; i++) users += i % 7;
  return users;
}
function sign() {
  let tokens = 0;
  for (const goesOn = running(TASK_MILLIS); goesOn(); )
    for (let i = 0; i < TURNS; i++) tokens += i % 7;
  return tokens;
}

const ROUTES = { '/list': renderList, '/users/:id': parseUser, '/sign': sign };

async function request(route, work) {
  const span = trace.getTracer('scenario').startSpan('GET', { kind: SpanKind.SERVER });
  span.setAttribute('http.request.method', 'GET');
  await context.with(trace.setSpan(context.active(), span), async () => {
    await turn();
    const start = performance.now();
    work();
    used[route] = (used[route] ?? 0) + performance.now() - start;
  });
  span.setAttribute('http.route', route);
  span.end();
}

async function serve(seconds, pauseMillis) {
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    for (const [route, work] of Object.entries(ROUTES)) {
      await request(route, work);
      if (pauseMillis > 0) await sleep(pauseMillis);
    }
  }
}

async function main([mode]) {
  // It does not keep the process alive.
  await ready(eventLoop);
  await serve(SECONDS[mode], mode === 'calm' ? 100 : 0);
  await eventLoop.forceFlush();
  note('profile', eventLoop.loopProfile());
  note('used', used);
  note('health', eventLoop.health(10_000));
  await endPhase('load');
  await finish(sdk);
}

main(process.argv.slice(2));
