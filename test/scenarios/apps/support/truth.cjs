/**
 * What an app itself knows to be true, as JSON lines in the file that SCENARIO_RECORD names. All
 * writes are synchronous, so that nothing here waits, queues or is lost in a block, and so that
 * recording is never what is measured. Needs nothing but the API.
 */
const fs = require('node:fs');
const { performance } = require('node:perf_hooks');
const { threadId } = require('node:worker_threads');
const { trace } = require('@opentelemetry/api');
const { running, threadTimes } = require('../../../support/thread-times.cjs');
const { unixTime } = require('../../../support/unix-time.cjs');

const file = fs.openSync(process.env.SCENARIO_RECORD, 'a');

function record(line) {
  fs.writeSync(file, `${JSON.stringify({ ...line, pid: process.pid, thread: threadId })}\n`);
}

/**
 * A moment at which the test knows how long this thread had been kept waiting for a CPU by then,
 * and how long it had run.
 */
function readRunDelay(more) {
  const times = threadTimes();
  record({
    type: 'reading',
    atMillis: unixTime(),
    delayMillis: times?.runDelayMillis,
    cpuMillis: times?.cpuMillis,
    ...more,
  });
}

const threadIds = () => fs.readdirSync('/proc/self/task');
/**
 * Those that Node.js starts with: the main thread, and V8's own, which compile and collect garbage.
 */
let nodesThreads = [];
try {
  nodesThreads = threadIds();
} catch {} // not Linux

/**
 * The same of the threads that were started since, the watchdog thread among them. Up to a
 * millisecond.
 */
function readRunDelays() {
  const threads = {};
  try {
    for (const id of threadIds().filter((each) => !nodesThreads.includes(each))) {
      const [, nanos] = fs.readFileSync(`/proc/self/task/${id}/schedstat`, 'latin1').split(' ');
      threads[id] = Number(nanos) / 1e6;
    }
  } catch {} // not Linux, or a thread has just ended
  readRunDelay({ threads });
}

/** Adds one fact, for the test to read as `run.notes[name]`. */
function note(name, value) {
  record({ type: 'note', name, value });
}

/**
 * Starts to time what `label` stands for. The function it returns ends that, and records it with
 * the span active at the start, by another name if it is given one. `waits`: it is not work all
 * the time, so that it lacks no CPU.
 */
function startTruth(label, { waits = false } = {}) {
  const span = trace.getActiveSpan()?.spanContext();
  const start = performance.now();
  const atStart = threadTimes();
  return (name = label) => {
    const atEnd = threadTimes();
    const end = performance.now();
    record({
      type: 'truth',
      label: name,
      startMillis: unixTime(start),
      endMillis: unixTime(end),
      durationMillis: end - start,
      delayAtStartMillis: atStart?.runDelayMillis,
      delayAtEndMillis: atEnd?.runDelayMillis,
      cpuAtStartMillis: atStart?.cpuMillis,
      cpuAtEndMillis: atEnd?.cpuMillis,
      ...(waits && { waits }),
      traceId: span?.traceId,
      spanId: span?.spanId,
    });
  };
}

/** Runs a synchronous function once, and records how long it took. */
function truthOf(label, work, options) {
  const end = startTruth(label, options);
  try {
    return work();
  } finally {
    end();
  }
}

const page = Buffer.alloc(16_384, 'event loop');
let hash = 0;
/**
 * Some 15 microseconds of real work: FNV-1a. It allocates nothing, or collecting it would be a
 * block of its own.
 */
function hashSome() {
  for (let i = 0; i < page.length; i++) hash = Math.imul(hash ^ page[i], 0x01000193);
}

/** Shorter work is a small part of something, and CPU time is counted in ticks of up to 4 ms. */
const LONG_MILLIS = 40;

/**
 * Works until `millis` have passed, without recording anything; if that is long, until the
 * thread has run for so long, so that a block is one on a busy machine, too.
 */
function work(millis) {
  const until = performance.now() + millis;
  const goesOn = millis < LONG_MILLIS ? undefined : running(millis);
  do {
    do hashSome();
    while (performance.now() < until);
  } while (goesOn?.());
}

/** Blocks the event loop for `millis`, and records that it did. */
function block(label, millis) {
  truthOf(label, () => work(millis));
}

readRunDelay();

module.exports = {
  block,
  note,
  readRunDelay,
  readRunDelays,
  record,
  startTruth,
  truthOf,
  unixTime,
  work,
};
