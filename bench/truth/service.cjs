/**
 * A service with one endpoint for each labelled blocker, and some in which nothing blocks; every answer says what really happened.
 * Started by truth.mjs: `node bench/truth/service.cjs <subject> <threshold> <dsn>`, with an IPC channel.
 */
const { once } = require('node:events');
const { setTimeout: wait, setImmediate: nextIteration } = require('node:timers/promises');
const { trace } = require('@opentelemetry/api');
const { SPAN_NAME, SUBJECTS } = require('../peers/subjects.cjs');

process.env.OTEL_LOGS_EXPORTER = 'none';
process.env.OTEL_METRICS_EXPORTER = 'none';

const [name, threshold, dsn] = process.argv.slice(2);
const subject = SUBJECTS[name];

/** What the tool has said: one entry for each time. */
const reports = [];
const report = (told) => reports.push({ at: epochNow(), ...told });
const epochNow = () => performance.timeOrigin + performance.now();

const start = () => subject.start({ thresholdMillis: Number(threshold), report, dsn }) ?? [];
if (subject.bringsSdk) start();
else startSdk(start);

const express = require('express');
const { argumentOf, calibrate, cleanUp } = require('../../test/scenarios/apps/support/labelled-blockers.cjs');
const { BLOCKERS, QUIET } = require('./corpus.cjs');

/** `start` comes last: an instrumentation that is made before others are loaded hides from them what they load. */
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

/** Milliseconds in which `run` held the loop, or seemed to. */
async function timed(run) {
  const start = epochNow();
  await run();
  return epochNow() - start;
}

/** Before the first turn of the loop, so that it is no block. */
const inputs = Object.fromEntries(
  Object.entries(BLOCKERS).map(([label, blocker]) => [label, calibrate(blocker)]),
);

const app = express();
app.get('/quiet/:label', async (request, response) => {
  const lengthMillis = await timed(() => QUIET[request.params.label]({ wait, nextIteration }));
  response.json({ lengthMillis });
});
app.get('/block/:label', async (request, response) => {
  const { label } = request.params;
  const { run, place, asynchronous, culprit } = BLOCKERS[label];
  const traceId = trace.getActiveSpan()?.spanContext().traceId;
  // In a later turn of the loop: to answer takes time as well, and that is no part of the truth.
  const answer = (lengthMillis) =>
    setImmediate(() => response.json({ lengthMillis, traceId, culprit: culprit.name }));
  /** Synchronous where it can be: an `await` of ours would be a microtask more. */
  const hold = () => {
    const start = epochNow();
    run(argumentOf(inputs[label]));
    answer(epochNow() - start);
  };
  if (place) place(hold, argumentOf, answer);
  else if (asynchronous) answer(await timed(() => run(argumentOf(inputs[label]))));
  else hold();
});

async function main() {
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.on('message', () => process.send(reports));
  process.on('disconnect', () => {
    cleanUp();
    process.exit();
  });
  process.send({ port: server.address().port, blockers: Object.keys(BLOCKERS), quiet: Object.keys(QUIET) });
}
main();
