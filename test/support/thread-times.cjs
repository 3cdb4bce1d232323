/**
 * What the system says of the calling thread, in milliseconds since it began: its CPU time, as of the
 * latest tick of the scheduler, and how long it has been kept waiting for a CPU. Undefined where the
 * system does not say (anything but Linux). Some 2 microseconds.
 */
const fs = require('node:fs');

function openThreadTimes() {
  try {
    const schedstat = fs.openSync('/proc/thread-self/schedstat', 'r');
    const buffer = Buffer.alloc(128);
    return () => {
      const text = buffer.latin1Slice(0, fs.readSync(schedstat, buffer, 0, buffer.length, 0));
      const [cpu, runDelay] = text.split(' ');
      return { cpuMillis: Number(cpu) / 1e6, runDelayMillis: Number(runDelay) / 1e6 };
    };
  } catch {
    return () => undefined;
  }
}

const threadTimes = openThreadTimes();

module.exports = { threadTimes, runDelayMillis: () => threadTimes()?.runDelayMillis };
