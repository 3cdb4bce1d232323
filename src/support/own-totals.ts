/**
 * CPU time that this package itself has used in this thread, and what it has left out: of all
 * sessions, up to the last second.
 */
export const ownTotals = {
  /** On the thread whose event loop is watched. */
  mainMillis: 0,
  /** On the threads of the package; 0 if that is not known. */
  watchdogMillis: 0,
  skippedSamples: 0,
  skippedNames: 0,
};
