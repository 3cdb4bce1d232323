/** CPU milliseconds of this thread: before Node.js 23.9, by the kernel (Linux only). */
const { openSync, readSync } = require('node:fs');

const schedstat = process.threadCpuUsage ? undefined : openSync('/proc/thread-self/schedstat');
const text = Buffer.alloc(64);

function cpuMillis() {
  if (schedstat !== undefined)
    return Number.parseInt(text.latin1Slice(0, readSync(schedstat, text, 0, 64, 0)), 10) / 1e6;
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

module.exports = { cpuMillis };
