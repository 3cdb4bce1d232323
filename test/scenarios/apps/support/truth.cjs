/**
 * What an app itself knows to be true, as JSON lines in the file that SCENARIO_RECORD names. All writes are synchronous, so that
 * nothing here waits, queues or is lost in a block, and so that recording is never what is measured. Needs nothing but the API.
 */
const fs = require('node:fs');
const { performance } = require('node:perf_hooks');
const { threadId } = require('node:worker_threads');
const { trace } = require('@opentelemetry/api');

const file = fs.openSync(process.env.SCENARIO_RECORD, 'a');

function record(line) {
  fs.writeSync(file, `${JSON.stringify({ ...line, pid: process.pid, thread: threadId })}\n`);
}

/** Adds one fact, for the test to read as `run.notes[name]`. */
function note(name, value) {
  record({ type: 'note', name, value });
}

/** Starts to time what `label` stands for. The function it returns ends that, and records it with the span active at the start. */
function startTruth(label) {
  const span = trace.getActiveSpan()?.spanContext();
  const start = performance.now();
  return () => {
    const end = performance.now();
    record({
      type: 'truth',
      label,
      startMillis: performance.timeOrigin + start,
      endMillis: performance.timeOrigin + end,
      durationMillis: end - start,
      traceId: span?.traceId,
      spanId: span?.spanId,
    });
  };
}

/** Runs a synchronous function once, and records how long it took. */
function truthOf(label, work) {
  const end = startTruth(label);
  try {
    return work();
  } finally {
    end();
  }
}

const page = Buffer.alloc(16_384, 'event loop');
let hash = 0;
/** Some 15 microseconds of real work: FNV-1a. It allocates nothing, or collecting it would be a block of its own. */
function hashSome() {
  for (let i = 0; i < page.length; i++) hash = Math.imul(hash ^ page[i], 0x01000193);
}

/** Works until `millis` have passed, without recording anything. */
function work(millis) {
  const end = performance.now() + millis;
  do hashSome();
  while (performance.now() < end);
}

/** Holds the event loop for `millis`, and records that it did. */
function block(label, millis) {
  truthOf(label, () => work(millis));
}

module.exports = { block, note, record, startTruth, truthOf, work };
