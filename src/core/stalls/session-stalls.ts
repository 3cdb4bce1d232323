/**
 * How long spans were stalled by blocks, with an `EventLoopSpanProcessor`: brings the blocks of one
 * session to the stalls of its thread.
 */
import type { Block } from '../../block.ts';
import type { Clock } from '../../support/clock.ts';
import type { Guard } from '../../support/guard.ts';
import { now } from '../../support/time.ts';
import type { Instruments } from '../emit/instruments.ts';
import type { Exclusions } from '../record/exclude/exclusions.ts';
import type { Ledger } from '../record/ledger.ts';
import { HttpRequests } from './http-requests.ts';
import { IDLE_ITERATIONS } from './queue.ts';
import { StallDurations } from './stall-durations.ts';
import { type StallSession, stallsOfThread } from './stalls.ts';

/** Requests are reported for so long at once: a thousand may have ended together. */
const MAX_TURN_MILLIS = 1;

/** What stalls ask of their session. */
interface StallPorts extends Pick<StallSession, 'tickId' | 'report' | 'settle'> {
  readonly guard: Guard;
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly exclusions: Pick<Exclusions, 'isSuspended'>;
  /** Nothing is exported. */
  readonly isConsoleOnly: boolean;
  instruments(): Instruments;
  /** Own work, in a turn of the loop that comes soon. */
  schedule(work: () => void): void;
}

export function createStalls(ports: StallPorts) {
  const shared = stallsOfThread();
  const durations = new StallDurations(ports);
  const session = sessionOf(ports, durations);
  const requests = ports.isConsoleOnly ? new HttpRequests() : undefined;
  const report = (isLast?: boolean) => {
    durations.flush();
    shared.report(isLast);
  };
  let isScheduled = false;
  const reportSome = () => {
    isScheduled = !shared.report(false, now() + MAX_TURN_MILLIS);
    if (isScheduled) ports.schedule(reportSome);
  };
  return {
    start: () => {
      shared.start(session);
      requests?.start();
    },
    stop: () => {
      requests?.stop();
      durations.flush();
      shared.stop(session);
    },
    /** A block has ended. Undefined if nothing is known of the spans then. */
    spansAt: (block: Block) => {
      requests?.watchAll();
      return shared.spansAt(block);
    },
    upkeep: () => {
      durations.flush();
      if (shared.hasRequests && !isScheduled) ports.ledger.asOwnWork(reportSome);
    },
    /** Blocks are reported now: counts what is known of what it has collected. */
    report: () => report(),
    /** Everything is reported, and no more becomes known of it: counts the rest. */
    settle: () => report(true),
    /** The number of entry spans that may have waited is on the block's span. */
    turnsToWait: () => (shared.isWatched ? IDLE_ITERATIONS : 0),
  };
}

function sessionOf(ports: StallPorts, durations: StallDurations): StallSession {
  const { clock, exclusions, guard, ledger } = ports;
  return {
    clock,
    ongoingPileUp: () => ledger.ongoingPileUp(),
    isSuspended: (pileUp) => exclusions.isSuspended(pileUp),
    taskStart: () => ledger.taskStart,
    isSurelyShort: () => ledger.isSurelyShort(),
    tickId: ports.tickId,
    report: ports.report,
    settle: ports.settle,
    stalled: (millis) => durations.add(millis),
    caused: (waits, operation) =>
      guard.run('cannot record a metric', () => ports.instruments().stallCaused(waits, operation)),
  };
}
