// A process without enough CPU: all of its threads on one CPU, where another process has most of
// the time. Linux only, with util-linux.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Of the two, a quarter of the CPU is left to the one that is starved. */
const NICENESS = '5';

/** Whether there is what it takes on this machine. */
export const canStarve = process.platform === 'linux' && spawnSync('taskset', ['-V']).status === 0;

/** A list as the kernel writes it, `0-1,4`. */
const allowedCpus = () =>
  /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'latin1'))[1];

/**
 * @param {number} pid
 * @param {number} atMostMillis the other process ends by itself then
 * @returns {() => void} gives it all CPUs back; it stays as nice as it was made
 */
export function starve(pid, atMostMillis) {
  const cpus = allowedCpus();
  const [cpu] = cpus.match(/\d+/);
  const pin = (to) => execFileSync('taskset', ['-a', '-c', '-p', to, String(pid)]);
  // its first thread, which runs the event loop
  execFileSync('renice', ['-n', NICENESS, '-p', String(pid)]);
  pin(cpu);
  const busy = `const end = Date.now() + ${atMostMillis}; while (Date.now() < end);`;
  const other = spawn('taskset', ['-c', cpu, process.execPath, '-e', busy], { stdio: 'ignore' });
  return () => {
    other.kill('SIGKILL');
    pin(cpus);
  };
}
