/** Answers health checks from a thread of its own. */
import { isMainThread } from 'node:worker_threads';
import type { Extra } from '../extra.ts';
import { launches } from '../support/launches.ts';
import { HealthServer } from './health-server.ts';
import { createBeatMemory } from './protocol.ts';

export const healthServer: Extra = {
  inSession({ config, guard, log, runDelay, shareHealth, watchdogMemory }) {
    const { healthServer: options, thresholdMillis, lagIntervalMillis } = config;
    // One for the process.
    if (options === undefined || !isMainThread) return undefined;
    const launched = launches();
    const server = new HealthServer(
      {
        ...options,
        memory: {
          beat: createBeatMemory(),
          lag: shareHealth(),
          watchdog: watchdogMemory?.buffer,
        },
        thresholdMillis,
        lagIntervalMillis,
      },
      watchdogMemory,
      runDelay.schedstat,
      log,
    );
    return {
      start: () => server.start(),
      stop: () => server.stop(),
      // The port is for the application that this process launches.
      upkeep: () =>
        guard.run('the port is not left to the application', () =>
          launched.isLauncher ? server.stop() : server.start(),
        ),
      armed: (due) => guard.run('the health server is not told of a beat', () => server.beat(due)),
    };
  },
};
