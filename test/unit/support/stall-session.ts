import { AsyncResource } from 'node:async_hooks';
import type { StallSession } from '../../../src/core/stalls/stalls.ts';

/** A session whose clock has Unix times, and in which nothing happens. */
export function stallSession(more: Partial<StallSession> = {}): StallSession {
  return {
    clock: { epoch: (time) => time, loopCount: () => 0, waited: () => 0 },
    ongoingPileUp: () => undefined,
    isSuspended: () => false,
    taskStart: () => Number.NaN,
    isSurelyShort: () => false,
    tickId: () => new AsyncResource('Tick').asyncId(),
    report: async () => {},
    settle: () => {},
    stalled: () => {},
    caused: () => {},
    ...more,
  };
}
