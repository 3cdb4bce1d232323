/**
 * The watchdog thread: its loop, and the report of ongoing blocks. Bundled into a string at build
 * time (`scripts/bundle-workers.mjs`), so that it survives every bundler.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { OngoingFacts } from './ongoing/ongoing-facts.ts';
import { OngoingReporter, type OngoingReportOptions } from './ongoing/ongoing-reporter.ts';
import type { WatchdogData } from './watchdog/protocol.ts';
import { runWatchdogThread } from './watchdog/watchdog-loop.ts';

// Not read by anyone, what Node.js prints here would keep the thread alive that started this one.
process.removeAllListeners('warning');
const data = workerData as WatchdogData<OngoingReportOptions>;
const reporter = new OngoingReporter(data.ongoing);
void runWatchdogThread<OngoingFacts>(
  data,
  (message) => parentPort?.postMessage(message),
  (report) => reporter.report(report),
);
