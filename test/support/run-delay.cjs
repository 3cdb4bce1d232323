/**
 * How long the calling thread has been kept waiting for a CPU since it began, in milliseconds;
 * undefined where the system does not say (anything but Linux). Some 2 microseconds.
 */
const fs = require('node:fs');

function openRunDelay() {
  try {
    const schedstat = fs.openSync('/proc/thread-self/schedstat', 'r');
    const buffer = Buffer.alloc(128);
    return () => {
      const text = buffer.latin1Slice(0, fs.readSync(schedstat, buffer, 0, buffer.length, 0));
      return Number(text.split(' ')[1]) / 1e6;
    };
  } catch {
    return () => undefined;
  }
}

module.exports = { runDelayMillis: openRunDelay() };
