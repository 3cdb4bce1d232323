/**
 * How long spans were stalled by blocks, with an `EventLoopSpanProcessor`: brings the blocks of one
 * session to the stalls of its thread.
 */
import type { Extra, SessionView } from '../extra.ts';
import { now } from '../support/time.ts';
import { HttpRequests } from './http-requests.ts';
import { IDLE_ITERATIONS } from './queue.ts';
import { StallDurations } from './stall-durations.ts';
import { type StallSession, stallsOfThread } from './stalls.ts';

/** Requests are reported for so long at once: a thousand may have ended together. */
const MAX_TURN_MILLIS = 1;

export const stalls: Extra = {
  inSession(view) {
    const shared = stallsOfThread();
    const durations = new StallDurations(view);
    const session = sessionOf(view, durations);
    const requests = view.isConsoleOnly ? new HttpRequests() : undefined;
    const report = (isLast?: boolean) => {
      durations.flush();
      shared.report(isLast);
    };
    let isScheduled = false;
    const reportSome = () => {
      isScheduled = !shared.report(false, now() + MAX_TURN_MILLIS);
      if (isScheduled) view.schedule(reportSome);
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
      spansAt: (block) => {
        requests?.watchAll();
        return shared.spansAt(block);
      },
      upkeep: () => {
        durations.flush();
        if (shared.hasRequests && !isScheduled) view.ledger.asOwnWork(reportSome);
      },
      report: () => report(),
      settle: () => report(true),
      // The number of entry spans that may have waited is on the block's span.
      turnsToWait: () => (shared.isWatched ? IDLE_ITERATIONS : 0),
    };
  },
  parentOf: (span) => stallsOfThread().parentOf(span),
  callsTo: (port) => stallsOfThread().callsTo(port),
};

function sessionOf(view: SessionView, durations: StallDurations): StallSession {
  const { clock, exclusions, guard, ledger } = view;
  return {
    clock,
    ongoingPileUp: () => ledger.ongoingPileUp(),
    isSuspended: (pileUp) => exclusions.isSuspended(pileUp),
    taskStart: () => ledger.taskStart,
    isSurelyShort: () => ledger.isSurelyShort(),
    tickId: view.tickId,
    report: view.report,
    settle: view.settle,
    stalled: (millis) => durations.add(millis),
    caused: (waits, operation) =>
      guard.run('cannot record a metric', () => view.instruments().stallCaused(waits, operation)),
  };
}
