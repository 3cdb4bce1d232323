/**
 * The watchdog thread: that of the main thread, or the one that all worker threads share. Its loop,
 * and the report of ongoing blocks. Bundled into a string at build time
 * (`scripts/bundle-workers.mjs`), so that it survives every bundler.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { UnnamedFacts } from './ongoing/ongoing-facts.ts';
import { OngoingReporter, type OngoingReportOptions } from './ongoing/ongoing-reporter.ts';
import { TO_MAIN_THREAD } from './sample/capture-session.ts';
import { clockOf } from './sample/clock-origin.ts';
import type { OngoingReport, WatchdogData } from './sample/protocol.ts';
import { SharedMemory } from './sample/shared-memory.ts';
import { ThreadSleep } from './sample/thread-sleep.ts';
import { watchThread } from './sample/watchdog-loop.ts';
import type { SharedWatchdogData } from './workers/main-thread.ts';
import { WatchedThreads } from './workers/watched-threads.ts';

// Not read by anyone, what Node.js prints here would keep the thread alive that started this one.
process.removeAllListeners('warning');

function reportOngoing({ ongoing, env }: WatchdogData): (r: OngoingReport<UnnamedFacts>) => void {
  const reporter = new OngoingReporter(ongoing as OngoingReportOptions, env);
  return (report) => reporter.report(report);
}

const data = workerData as WatchdogData | SharedWatchdogData;
if ('memory' in data) {
  const memory = new SharedMemory(data.memory);
  void watchThread<UnnamedFacts>(data, {
    memory,
    sleep: new ThreadSleep(memory, clockOf(data.clockOrigin)),
    route: TO_MAIN_THREAD,
    post: (message) => parentPort?.postMessage(message),
    reportOngoing: reportOngoing(data),
  });
} else {
  new WatchedThreads<UnnamedFacts>(data.words, reportOngoing).start();
}
