/** Options of `new Worker` that every watchdog thread is started with; plain JSON. */
export const THREAD_OPTIONS = {
  eval: true,
  name: 'event-loop-watchdog',
  argv: [],
  // Not the host's flags nor its NODE_OPTIONS: a preload of the host would run in there.
  execArgv: [],
  stdout: true,
  stderr: true,
  // What the thread has open is closed when it ends.
  trackUnmanagedFds: true,
  resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 },
};
