/** The loop profile: samples at random moments, taken by the watchdog thread. */
import { IDLE_MILLIS } from '../detect/lag/lag-sampler.ts';
import type { Extra, SessionView } from '../extra.ts';
import { EntryOperation } from './entry-operation.ts';
import { LoopProfiler } from './loop-profiler.ts';

/**
 * One sample a second on average. Of an overload that has only just begun, more: the order of three
 * routes is to be known within a minute.
 */
const INTERVAL_MILLIS = 1000;
const FIRST_INTERVAL_MILLIS = 125;
const FIRST_MOMENTS = 480;

export const profile: Extra = {
  inSession(session) {
    const { clock, guard, ledger } = session;
    const { loopProfile, lagIntervalMillis } = session.config;
    if (session.watchdogMemory === undefined || loopProfile === 'off') return undefined;
    const profiler = createProfiler(session);
    const failure = 'cannot make the loop profile';
    return {
      stop: () => profiler.stop(),
      threadData: () => ({
        profile: {
          isAlways: loopProfile === 'always',
          intervalMillis: INTERVAL_MILLIS,
          firstIntervalMillis: FIRST_INTERVAL_MILLIS,
          firstMoments: FIRST_MOMENTS,
          maxBeatMillis: Math.max(lagIntervalMillis, IDLE_MILLIS),
        },
      }),
      profile: (...asked) => profiler.answer(...asked),
      blockSample: (sample, intervalMillis) => profiler.addBlockSample(sample, intervalMillis),
      upkeep: (now) =>
        guard.run(failure, () => {
          profiler.beat(now, clock.waited());
          if (profiler.hasWork(now)) ledger.asOwnWork(() => profiler.work(now));
        }),
      report: () => {
        if (!profiler.hasSamples) return;
        guard.run(failure, () => ledger.asOwnWork(() => profiler.report()));
      },
      loopProfile: (windowMillis) => profiler.read(windowMillis),
    };
  },
};

function createProfiler(session: SessionView): LoopProfiler {
  const { clock, describer, ledger, parentOf } = session;
  return new LoopProfiler(clock, {
    sample: session.sample,
    wasWaitingAt: (time) => ledger.wasWaitingAt(time),
    taskStart: () => ledger.taskStart,
    addToBlock: (sample) => ledger.add(sample),
    entryOf: (context) => new EntryOperation(context, parentOf),
    describe: (samples, done) => describer.describeInSource(samples, done),
    count: (millis, code, operation) => session.instruments().busy(millis, code, operation),
  });
}
