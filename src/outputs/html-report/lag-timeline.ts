/**
 * Lag and utilization over the time of the run. Guarantees: a fixed number of slots; when they are
 * full, two become one, so a longer run has longer slots.
 */
const SLOTS = 2048;
const FIRST_SLOT_MILLIS = 100;

/** Times are Unix times in milliseconds. */
export class LagTimeline {
  #slotMillis = FIRST_SLOT_MILLIS;
  readonly #samples = new Float64Array(SLOTS);
  readonly #lagSum = new Float64Array(SLOTS);
  readonly #lagMax = new Float64Array(SLOTS);
  /** Milliseconds for which it is known whether the loop was busy, and in which it was. */
  readonly #known = new Float64Array(SLOTS);
  readonly #busy = new Float64Array(SLOTS);
  #readAt = Number.NaN;
  #busyThen = Number.NaN;

  constructor(private readonly startedAt: number) {}

  /**
   * @param now when the sample was taken
   * @param busy how long the loop has not waited for events so far, by the monotonic clock, which
   * does not count what a laptop sleeps; NaN if that is not known
   * @param lagMillis of an event that arrived that long ago
   */
  add(now: number, busy: number, lagMillis: number): void {
    const slot = this.#slotAt(now - lagMillis);
    this.#samples[slot] = (this.#samples[slot] as number) + 1;
    this.#lagSum[slot] = (this.#lagSum[slot] as number) + lagMillis;
    this.#lagMax[slot] = Math.max(this.#lagMax[slot] as number, lagMillis);
    const elapsed = now - this.#readAt;
    // Samples of one moment, of events that arrived one after the other.
    if (elapsed === 0) return;
    const share = (busy - this.#busyThen) / elapsed;
    // The wall clock may have been set back.
    if (elapsed > 0 && share >= 0) this.#addBusy(this.#readAt, now, Math.min(1, share));
    this.#readAt = now;
    this.#busyThen = busy;
  }

  /**
   * Each slot has one value; null if nothing was measured. The lag is how long an event waited that
   * arrived in the slot, on average and at most; the utilization is a share, 0 to 1.
   * @param now when it ends
   */
  read(now: number) {
    const slots = Math.min(
      SLOTS,
      Math.max(1, Math.ceil((now - this.startedAt) / this.#slotMillis)),
    );
    const each = (value: (slot: number) => number) =>
      Array.from({ length: slots }, (_, slot) => {
        const rounded = Math.round(1000 * value(slot)) / 1000;
        return Number.isFinite(rounded) ? rounded : null;
      });
    const at = (values: Float64Array, slot: number) => values[slot] as number;
    return {
      startTimeMillis: this.startedAt,
      slotMillis: this.#slotMillis,
      lagMillis: each((slot) => at(this.#lagSum, slot) / at(this.#samples, slot)),
      maxLagMillis: each((slot) => (at(this.#samples, slot) > 0 ? at(this.#lagMax, slot) : NaN)),
      utilization: each((slot) => at(this.#busy, slot) / at(this.#known, slot)),
    };
  }

  /** The loop was busy for this share of the time in between. */
  #addBusy(from: number, until: number, share: number): void {
    const last = this.#slotAt(until);
    for (let slot = this.#slotAt(from); slot <= last; slot++) {
      const begin = this.startedAt + slot * this.#slotMillis;
      const known = Math.min(until, begin + this.#slotMillis) - Math.max(from, begin);
      if (known <= 0) continue;
      this.#known[slot] = (this.#known[slot] as number) + known;
      this.#busy[slot] = (this.#busy[slot] as number) + known * share;
    }
  }

  #slotAt(time: number): number {
    while (time - this.startedAt >= SLOTS * this.#slotMillis) this.#halve();
    return Math.max(0, Math.floor((time - this.startedAt) / this.#slotMillis));
  }

  #halve(): void {
    for (const values of [this.#samples, this.#lagSum, this.#known, this.#busy])
      mergePairs(values, (a, b) => a + b);
    mergePairs(this.#lagMax, Math.max);
    this.#slotMillis *= 2;
  }
}

function mergePairs(values: Float64Array, merge: (a: number, b: number) => number): void {
  const half = values.length / 2;
  for (let i = 0; i < half; i++)
    values[i] = merge(values[2 * i] as number, values[2 * i + 1] as number);
  values.fill(0, half);
}
