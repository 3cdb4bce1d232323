/**
 * A thread that does nothing but sleep, and writes down when it slept too long: the machine gave
 * the whole process no CPU then.
 */
const fs = require('node:fs');
const { workerData } = require('node:worker_threads');

const SLEEP_MILLIS = 5;
const LATE_MILLIS = 5;

const file = fs.openSync(workerData.ledger, 'a');
const sleeper = new Int32Array(new SharedArrayBuffer(4));
const now = () => performance.timeOrigin + performance.now();

for (;;) {
  const due = now() + SLEEP_MILLIS;
  Atomics.wait(sleeper, 0, 0, SLEEP_MILLIS);
  const millis = now() - due;
  if (millis >= LATE_MILLIS)
    fs.writeSync(file, `${JSON.stringify({ type: 'suspension', start: due, millis })}\n`);
}
