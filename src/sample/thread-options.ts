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
  // V8 of Node.js 26 may give a new heap a freed page of the main thread's, of up to 32 MB
  // (`--large-page-pool`): with less than that and 4 MB, the start would end the process.
  resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 },
};
