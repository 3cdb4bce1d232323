/**
 * A service with one endpoint for each labelled blocker, and some in which nothing blocks; every
 * answer says what really happened. Started by truth.mjs: `node bench/truth/service.cjs <subject>
 * <threshold> <dsn>`, with an IPC channel.
 */
const { once } = require('node:events');
const { setTimeout: wait, setImmediate: nextIteration } = require('node:timers/promises');
const { trace } = require('@opentelemetry/api');
const { SPAN_NAME, SUBJECTS } = require('../peers/subjects.cjs');

process.env.OTEL_LOGS_EXPORTER = 'none';
process.env.OTEL_METRICS_EXPORTER = 'none';

const BEAT_MILLIS = 5;
/** From this on what the machine does shows in what a tool says. */
const DISTURBANCE_MILLIS = 15;
/** They use no CPU, and block the event loop, too. */
const WAITS = new Set(['execFileSync']);

const [name, threshold, dsn] = process.argv.slice(2);
const subject = SUBJECTS[name];

/** What the tool has said: one entry for each time. */
const reports = [];
const report = (facts) => reports.push({ at: epochNow(), ...facts });
const epochNow = () => performance.timeOrigin + performance.now();

const start = () => subject.start({ thresholdMillis: Number(threshold), report, dsn }) ?? [];
if (subject.bringsSdk) start();
else startSdk(start);

const express = require('express');
const { argumentOf, calibrate, cleanUp } = require('../../tools/labelled-blockers.cjs');
const { BLOCKERS, NOT_BLOCKING } = require('./corpus.cjs');

/**
 * `start` comes last: an instrumentation that is made before others are loaded hides from them what
 * they load.
 */
function startSdk(start) {
  const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express');
  const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
  const { NodeSDK } = require('@opentelemetry/sdk-node');
  const millis = ([seconds, nanos]) => seconds * 1e3 + nanos / 1e6;
  const listener = {
    onStart() {},
    onEnd(span) {
      if (span.name !== SPAN_NAME) return;
      report({
        lengthMillis: millis(span.duration),
        functionName: span.attributes['code.function.name'],
        traceId: span.spanContext().traceId,
      });
    },
    async forceFlush() {},
    async shutdown() {},
  };
  new NodeSDK({
    autoDetectResources: false,
    spanProcessors: [listener],
    instrumentations: [new HttpInstrumentation(), new ExpressInstrumentation(), ...start()],
  }).start();
}

/** What it is given to answer with: when it happened, and how much CPU the process got. */
function startTimer() {
  const [start, cpu] = [epochNow(), process.cpuUsage()];
  return () => {
    const end = epochNow();
    const { user, system } = process.cpuUsage(cpu);
    return { start, end, cpuMillis: (user + system) / 1000 };
  };
}

/** What blocked the event loop since the latest visit, as a timer of our own measured it. */
let delays = [];
let due = epochNow() + BEAT_MILLIS;
setInterval(() => {
  const now = epochNow();
  if (now - due >= DISTURBANCE_MILLIS) delays.push([due, now]);
  due = now + BEAT_MILLIS;
}, BEAT_MILLIS);
/** The latest visit. */
let visited;

/**
 * The machine gave the process no CPU in that visit for as long as matters: it says nothing about
 * the tool.
 */
function isDisturbed() {
  const { start, end, cpuMillis, isBlock, label } = visited;
  const starved = isBlock && !WAITS.has(label) && end - start - cpuMillis >= DISTURBANCE_MILLIS;
  const outside = ([from, until]) =>
    until - from - (isBlock ? Math.max(0, Math.min(until, end) - Math.max(from, start)) : 0);
  return starved || delays.some((each) => outside(each) >= DISTURBANCE_MILLIS);
}

/** Before the first turn of the loop, so that it is no block. */
const inputs = Object.fromEntries(
  Object.entries(BLOCKERS).map(([label, blocker]) => [label, calibrate(blocker)]),
);

const app = express();
app.get('/not-blocking/:label', async (request, response) => {
  const { label } = request.params;
  delays = [];
  const timer = startTimer();
  await NOT_BLOCKING[label]({ wait, nextIteration });
  visited = { label, isBlock: false, ...timer() };
  response.json({ lengthMillis: visited.end - visited.start });
});
app.get('/block/:label', async (request, response) => {
  const { label } = request.params;
  const { run, place, asynchronous, blockingFunction } = BLOCKERS[label];
  const traceId = trace.getActiveSpan()?.spanContext().traceId;
  delays = [];
  // In a later turn of the loop: to answer takes time as well, and that is no part of the truth.
  // The truth ends when the callback does, which is between these two readings: V8 may collect what
  // the work has left behind in the middle of whatever comes next.
  const answer = (timer) => {
    const worked = timer();
    process.nextTick(() => {
      const drained = timer();
      visited = { label, isBlock: true, ...drained };
      const lengthMillis = worked.end - worked.start;
      const mostMillis = drained.end - drained.start;
      setImmediate(() =>
        response.json({
          lengthMillis,
          mostMillis,
          traceId,
          blockingFunction: blockingFunction.name,
        }),
      );
    });
  };
  /** Synchronous where it can be: an `await` of ours would be a microtask more. */
  const block = () => {
    const timer = startTimer();
    run(argumentOf(inputs[label]));
    answer(timer);
  };
  if (place) place(block, startTimer, answer);
  else if (asynchronous) {
    const timer = startTimer();
    await run(argumentOf(inputs[label]));
    answer(timer);
  } else block();
});

async function main() {
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.on('message', (question) =>
    process.send(question === 'reports' ? reports : isDisturbed()),
  );
  process.on('disconnect', () => {
    cleanUp();
    process.exit();
  });
  process.send({
    port: server.address().port,
    blockers: Object.keys(BLOCKERS),
    notBlocking: Object.keys(NOT_BLOCKING),
  });
}
main();
