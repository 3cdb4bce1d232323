/** The option `healthServer`: answers health checks from a thread of its own. */
import { isMainThread } from 'node:worker_threads';
import { LAG_CHANNEL, type LagMessage } from '../../channels.ts';
import { Health } from '../../core/record/lag/health.ts';
import { follow, type Output } from '../../outputs/output.ts';
import { Guard } from '../../support/guard.ts';
import { launches } from '../../support/launches.ts';
import { now } from '../../support/time.ts';
import { HealthServer } from './health-server.ts';
import { createBeatMemory } from './protocol.ts';

export const healthServer: Output = ({ config, log, loop }) => {
  const { healthServer: options, thresholdMillis, lagIntervalMillis } = config;
  // One for the process.
  if (options === undefined || !isMainThread) return undefined;
  const guard = new Guard(log.later);
  const launched = launches();
  const lag = new Health({ now, waited: () => Number.NaN }, lagIntervalMillis);
  const memory = { beat: createBeatMemory(), lag: lag.share(), watchdog: loop.watchdog?.buffer };
  const server = new HealthServer(
    { ...options, memory, thresholdMillis, lagIntervalMillis },
    loop.watchdog,
    loop.times,
    log,
  );
  const unfollow = follow<LagMessage>(LAG_CHANNEL, ({ lagMillis, samples }) =>
    lag.lag(lagMillis, samples),
  );
  loop.onArmed((due) =>
    guard.run('the health server is not told of a beat', () => {
      // The port is for the application that this process launches.
      if (launched.isLauncher) server.stop();
      else server.start();
      server.beat(due);
    }),
  );
  server.start();
  return {
    stop() {
      loop.onArmed(undefined);
      unfollow();
      server.stop();
    },
  };
};
