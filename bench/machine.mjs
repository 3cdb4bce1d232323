// Promises: every run says on what machine it was measured, and whether that machine had nothing else to do.
import { availableParallelism, cpus, loadavg } from 'node:os';

/** One-minute load from which the numbers are not worth quoting: somebody else is at work. */
const QUIET_LOAD = 0.5;
const NOT_QUIET = ' (NOT QUIET: do not quote these numbers)';

/** Prints the machine, and returns what a report says of it. */
export function printMachine(/** @type {string} */ run) {
  const load = loadavg()[0];
  const machine = { cpu: cpus()[0].model, cpus: availableParallelism(), platform: process.platform, load };
  console.log(`${machine.cpu}, ${machine.cpus} CPUs, ${machine.platform} ${process.arch}`);
  console.log(`${run}; load before the run: ${load.toFixed(2)}${load < QUIET_LOAD ? '' : NOT_QUIET}`);
  return machine;
}
