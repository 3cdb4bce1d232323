// Guarantees: the CPU time of all threads of a process, those that ended meanwhile included.
import { readdirSync, readFileSync } from 'node:fs';

/** A thread that ends in between is not seen at all. */
const READ_EVERY_MILLIS = 100;
const NANOS_IN_TICK = 1e7;

/**
 * Reads until `stop`. `/proc/<pid>/schedstat` is that of the main thread alone, so each thread's
 * own is followed. `/proc/<pid>/stat` has the sum for the process, with the threads that have
 * ended, in ticks of 10 ms: if that is more, by more than its own error, threads have ended, and
 * it counts.
 * @param {number} pid
 */
export function meterCpu(pid) {
  /** @type {Map<string, { first: number, last: number }>} */
  const threads = new Map();
  const ticksAtStart = ticksOf(pid);
  read(pid, threads, true);
  const timer = setInterval(() => read(pid, threads, false), READ_EVERY_MILLIS);
  return {
    /** @returns {number} milliseconds */
    stop() {
      clearInterval(timer);
      read(pid, threads, false);
      let nanos = 0;
      for (const { first, last } of threads.values()) nanos += last - first;
      const ofProcess = (ticksOf(pid) - ticksAtStart) * NANOS_IN_TICK;
      return (ofProcess - nanos > 2 * NANOS_IN_TICK ? ofProcess : nanos) / 1e6;
    },
  };
}

/** A thread that was not there at the start has used nothing before it. */
function read(
  /** @type {number} */ pid,
  /** @type {Map<string, { first: number, last: number }>} */ threads,
  /** @type {boolean} */ isStart,
) {
  for (const id of readdirSync(`/proc/${pid}/task`)) {
    let nanos;
    try {
      nanos = Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'latin1').split(' ')[0]);
    } catch {
      continue; // it has ended
    }
    const known = threads.get(id);
    if (known === undefined) threads.set(id, { first: isStart ? nanos : 0, last: nanos });
    else known.last = nanos;
  }
}

/** User and system time of the process and of its threads that have ended, in ticks of 10 ms. */
function ticksOf(/** @type {number} */ pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The command's name, in parentheses, may have spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}
