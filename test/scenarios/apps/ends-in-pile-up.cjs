// 2000 requests are open, and end together: outside of a pile-up, and in one. The CPU of that.
const { context, ROOT_CONTEXT, SpanKind, trace } = require('@opentelemetry/api');
const {
  EventLoopInstrumentation,
  EventLoopSpanProcessor,
} = require('opentelemetry-instrumentation-event-loop');
const telemetry = require('./support/telemetry.cjs');
const { eventLoopConfig, main, note, startNodeSdk, wait, work } = telemetry;

const REQUESTS = 2000;
/** Requests that run, one after the other: 400 ms. */
const CALLBACKS = 20;
const CALLBACK_MILLIS = 20;
/** The first ones are slower: their code is not compiled yet. */
const ROUNDS = 4;
/** A pile-up in which the machine took the CPU away stalls no span. */
const MAX_TRIES = 8;

let stalled = 0;
const counter = {
  onStart() {},
  onEnd: ({ attributes }) => {
    if (attributes['event_loop.stall.duration'] !== undefined) stalled++;
  },
  async forceFlush() {},
  async shutdown() {},
};
const sdk = startNodeSdk({
  spanProcessors: [new EventLoopSpanProcessor(), counter],
  instrumentations: [new EventLoopInstrumentation(eventLoopConfig())],
});
const tracer = trace.getTracer('app');

function openRequests() {
  return Array.from({ length: REQUESTS }, () => {
    const entry = tracer.startSpan('request', { kind: SpanKind.SERVER }, ROOT_CONTEXT);
    const inEntry = trace.setSpan(ROOT_CONTEXT, entry);
    return { entry, handler: tracer.startSpan('handler', {}, inEntry) };
  });
}

/** Milliseconds of CPU, after `callbacks` of the same iteration; and how many were stalled. */
function endAll(requests, callbacks) {
  return new Promise((resolve) => {
    for (const callback of callbacks) setImmediate(callback);
    setImmediate(() => {
      stalled = 0;
      const start = process.cpuUsage();
      for (const { entry, handler } of requests) {
        handler.end();
        entry.end();
      }
      const { user, system } = process.cpuUsage(start);
      resolve({ millis: (user + system) / 1000, stalled });
    });
  });
}

async function round(isPileUp) {
  const requests = openRequests();
  await wait(20);
  const run = ({ handler }) =>
    context.with(trace.setSpan(ROOT_CONTEXT, handler), () => work(CALLBACK_MILLIS));
  const running = isPileUp ? requests.slice(0, CALLBACKS) : [];
  const ended = await endAll(
    requests,
    running.map((request) => () => run(request)),
  );
  await wait(20);
  return ended;
}

main(sdk, async () => {
  await wait(300);
  const outside = [];
  const inside = [];
  for (let i = 0; i < ROUNDS; i++) outside.push((await round(false)).millis);
  for (let i = 0; i < MAX_TRIES && inside.length < ROUNDS; i++) {
    const ended = await round(true);
    if (ended.stalled > REQUESTS) inside.push(ended.millis);
  }
  note('ends', { outside, inside });
});
