/**
 * Records for how long each entry span was stalled. Nearly all were not at all: those are counted,
 * and recorded together. One alone takes 0.5 to 0.7 µs of a request, since a meter's code is in no
 * cache then; of many it takes 0.1 (Node.js 24).
 */

import type { Guard } from '../../support/guard.ts';
import type { Instruments } from '../emit/instruments.ts';

export class StallDurations {
  #unstalled = 0;

  constructor(private readonly ports: { readonly guard: Guard; instruments(): Instruments }) {}

  /** Hot, once for each request. May throw: the host's meter may. */
  add(millis: number): void {
    if (millis > 0) this.ports.instruments().stall(millis);
    else this.#unstalled++;
  }

  /** Records what was counted; call it now and then, and before the end. */
  flush(): void {
    const count = this.#unstalled;
    if (count === 0) return;
    // First: a meter that throws must not be given them again.
    this.#unstalled = 0;
    this.ports.guard.run('cannot record a metric', () => {
      const instruments = this.ports.instruments();
      for (let i = 0; i < count; i++) instruments.stall(0);
    });
  }
}
