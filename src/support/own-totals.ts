/** CPU time that this package itself has used in this thread so far, and what it has left out. */
export interface OwnTotals {
  /** On the thread whose event loop is watched. */
  readonly mainMillis: number;
  /** On the threads of the package; 0 if that is not known. */
  readonly watchdogMillis: number;
  readonly skippedSamples: number;
  readonly skippedNames: number;
}

/** Of all sessions of the thread, up to the last second. */
export const ownTotals: { -readonly [Name in keyof OwnTotals]: OwnTotals[Name] } = {
  mainMillis: 0,
  watchdogMillis: 0,
  skippedSamples: 0,
  skippedNames: 0,
};
