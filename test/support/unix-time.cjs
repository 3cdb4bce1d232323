/**
 * Unix time of a value of `performance.now()`, in milliseconds with a fraction, as `Date.now()` has
 * it, which spans are in. `performance.timeOrigin` may differ: Node.js reads two clocks for it, one
 * after the other, when a process begins, and a process without a CPU in between has an origin that
 * is too late (by 9 ms in CI). Nor are later changes of the wall clock in it.
 */
const { performance } = require('node:perf_hooks');

// Taken once: apps have fake timers.
const now = performance.now.bind(performance);
const dateNow = Date.now;

/** What is further apart has been read with an interruption in between. */
const MAX_READING_MILLIS = 0.1;
/** `Date.now()` is cut to whole milliseconds. */
const MAX_CUT_MILLIS = 1;

/** Unix time minus `now()`, read when a millisecond begins: up to one millisecond. */
function readOffset() {
  for (let date = dateNow(), time = now(); ; ) {
    const [dateBefore, timeBefore] = [date, time];
    date = dateNow();
    time = now();
    if (date > dateBefore && time - timeBefore < MAX_READING_MILLIS) return date - time;
  }
}

let offset = readOffset();

function unixTime(time = now()) {
  const behind = offset + now() - dateNow();
  if (behind < -MAX_READING_MILLIS || behind > MAX_CUT_MILLIS + MAX_READING_MILLIS)
    offset = readOffset();
  return offset + time;
}

module.exports = { unixTime };
