/**
 * A service with one endpoint for each labelled blocker, and some in which nothing blocks; every
 * answer says what really happened.
 * Started by truth.mjs: `node bench/truth/service.cjs <subject> <threshold> <dsn>`, with an IPC
 * channel.
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
const [name, threshold, dsn, patterns = '[""]'] = process.argv.slice(2);
const subject = SUBJECTS[name];

/** What the tool has said: one entry for each time. */
const reports = [];
const report = (told) => reports.push({ at: epochNow(), ...told });
const epochNow = () => performance.timeOrigin + performance.now();

const start = () => subject.start({ thresholdMillis: Number(threshold), report, dsn }) ?? [];
if (subject.bringsSdk) start();
else startSdk(start);

const express = require('express');
const v8 = require('node:v8');
const vm = require('node:vm');
const labelledBlockers = require('../../tools/labelled-blockers.cjs');
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
        file: span.attributes['code.file.path'],
        line: span.attributes['code.line.number'],
        cause: span.attributes['event_loop.block.cause'],
        loads: span.attributes['event_loop.block.loaded_module'],
        topFunctions: span.attributes['event_loop.block.top_functions'],
        stack: span.attributes['code.stacktrace'],
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

const activeTraceId = () => trace.getActiveSpan()?.spanContext().traceId;

/** What it is given to answer with: when it happened, and how much CPU the process got. */
function startTimer() {
  const [start, cpu] = [epochNow(), process.cpuUsage()];
  return () => {
    const end = epochNow();
    const { user, system } = process.cpuUsage(cpu);
    return { start, end, cpuMillis: (user + system) / 1000 };
  };
}

/** What held the loop since the latest visit, as a timer of our own saw it. */
let held = [];
let due = epochNow() + BEAT_MILLIS;
setInterval(() => {
  const now = epochNow();
  if (now - due >= DISTURBANCE_MILLIS) held.push([due, now]);
  due = now + BEAT_MILLIS;
}, BEAT_MILLIS);
/** The latest visit. */
let visited;

/**
 * The machine has held the process in that visit for as long as matters: it says nothing about the
 * tool.
 */
function isDisturbed() {
  const { start, end, cpuMillis, isBlock, label } = visited;
  const starved =
    isBlock && !BLOCKERS[label].waits && end - start - cpuMillis >= DISTURBANCE_MILLIS;
  const outside = ([from, until]) =>
    until - from - (isBlock ? Math.max(0, Math.min(until, end) - Math.max(from, start)) : 0);
  return starved || held.some((each) => outside(each) >= DISTURBANCE_MILLIS);
}

v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc');

/**
 * What the next visit is given: one input at a time, so that the heap is no larger than one needs.
 */
let prepared;

const app = express();
app.get('/not-blocking/:label', async (request, response) => {
  const { label } = request.params;
  held = [];
  const timer = startTimer();
  await NOT_BLOCKING[label]({ wait, nextIteration });
  visited = { label, isBlock: false, ...timer() };
  response.json({ lengthMillis: visited.end - visited.start });
});
/** Finds the input: what blocks in here counts for nobody. */
app.get('/prepare/:label', async (request, response) => {
  prepared = undefined;
  prepared = await BLOCKERS[request.params.label].prepare();
  collectGarbage();
  response.json({});
});
app.get('/block/:label', async (request, response) => {
  const { label } = request.params;
  const { run, place, asynchronous, before, input, ...blocker } = BLOCKERS[label];
  const { group, label: wanted, cause, loads } = blocker;
  before?.();
  const traceId = (subject.traceId ?? activeTraceId)();
  held = [];
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
          start: worked.start,
          end: worked.end,
          traceId,
          group,
          wanted,
          cause,
          loads,
        }),
      );
    });
  };
  /** Synchronous if it can be: an `await` of ours would be a microtask more. */
  const hold = () => {
    const timer = startTimer();
    run(input ? input(prepared) : prepared);
    answer(timer);
  };
  if (place) place(hold, startTimer, answer);
  else if (asynchronous) {
    const timer = startTimer();
    await run(input ? input(prepared) : prepared);
    answer(timer);
  } else hold();
});

/** All, or those whose name or group has one of these texts in it. */
const chosen = Object.keys(BLOCKERS).filter((label) =>
  JSON.parse(patterns).some((text) => `${BLOCKERS[label].group}: ${label}`.includes(text)),
);

async function main() {
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.on('message', (question) =>
    process.send(question === 'reports' ? reports : isDisturbed()),
  );
  process.on('disconnect', () => {
    labelledBlockers.cleanUp();
    process.exit();
  });
  process.send({
    port: server.address().port,
    blockers: chosen,
    notBlocking: Object.keys(NOT_BLOCKING),
  });
}
main();
