/** What the soak asks for, in one place. */
module.exports = {
  SPAN_NAME: 'event-loop-blocked',
  THRESHOLD_MILLIS: 50,
  /** Blocks are asked for from this on, so that none is in doubt. */
  SHORTEST_MILLIS: 60,
  LONGEST_MILLIS: 400,
  /** Shorter ones are not judged: what is asked for in iterations may become faster. */
  CLEAR_MILLIS: 55,
  /** From this on the service's own timer says that the loop was blocked. */
  WITNESS_MILLIS: 15,
  /** A block may be reported this much too short, or this share. */
  LENGTH_TOLERANCE_MILLIS: 2,
  LENGTH_TOLERANCE_SHARE: 0.02,
  /** Heap after a collection, from the second quarter to the last. */
  MAX_HEAP_GROWTH_BYTES: 1024 * 1024,
  /**
   * Of the starts of spans against the wall clock, which counts whole milliseconds: median, and
   * from the first quarter to the last.
   */
  MAX_OFFSET_MILLIS: 2,
  MAX_DRIFT_MILLIS: 1,
};
