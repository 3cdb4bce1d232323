/**
 * What the system says of the calling thread, in milliseconds since it began: its CPU time, as of
 * the latest tick of the scheduler, and how long it has been kept waiting for a CPU. Undefined
 * where the system does not say (anything but Linux). Some 2 microseconds.
 */
const fs = require('node:fs');

function openThreadTimes() {
  try {
    const schedstat = fs.openSync('/proc/thread-self/schedstat', 'r');
    const buffer = Buffer.alloc(128);
    return function readThreadTimes() {
      const text = buffer.latin1Slice(0, fs.readSync(schedstat, buffer, 0, buffer.length, 0));
      const [cpu, runDelay] = text.split(' ');
      return { cpuMillis: Number(cpu) / 1e6, runDelayMillis: Number(runDelay) / 1e6 };
    };
  } catch {
    return () => undefined;
  }
}

const threadTimes = openThreadTimes();
// Taken once: apps have fake timers.
const clock = performance.now.bind(performance);

/**
 * True until the thread has run for so long: not counting the time in which it had no CPU, since
 * that may be taken off a block, and with that much CPU time, since CPUs can be taken away from the
 * whole machine without a run delay. Callers work for some 0.1 ms between two questions: if they
 * ask every microsecond, 6 to 10 % of the time goes here, and so do most of a block's five stack
 * samples now and then.
 */
function running(millis) {
  const before = threadTimes();
  const start = clock();
  let until = start + millis;
  return () => {
    const time = clock();
    if (time < until) return true;
    const now = threadTimes();
    if (before === undefined || now === undefined) return false;
    const waited = now.runDelayMillis - before.runDelayMillis;
    const lackingCpu = millis - (now.cpuMillis - before.cpuMillis);
    until = Math.max(start + millis + waited, time + lackingCpu);
    return time < until;
  };
}

/** A clock that stands still while the thread waits for a CPU. */
const unstarvedMillis = () => clock() - (threadTimes()?.runDelayMillis ?? 0);

module.exports = {
  unstarvedMillis,
  threadTimes,
  runDelayMillis: () => threadTimes()?.runDelayMillis,
  running,
};
