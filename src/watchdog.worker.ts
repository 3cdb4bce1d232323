/**
 * The watchdog thread: that of the main thread, or the one that all worker threads share. Its loop,
 * and what the extras do in it. Bundled into a string at build time (`scripts/bundle-workers.mjs`),
 * so that it survives every bundler.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { ReportOngoing } from './extra.ts';
import { TO_MAIN_THREAD } from './sample/capture-session.ts';
import { clockOf } from './sample/clock-origin.ts';
import type { WatchdogData, WatchdogMessage } from './sample/protocol.ts';
import { SharedMemory } from './sample/shared-memory.ts';
import { ThreadSleep } from './sample/thread-sleep.ts';
import { watchThread } from './sample/watchdog-loop.ts';
import { allowReading } from './support/reading.ts';
import { THREAD_EXTRAS } from './thread-extras.ts';

// Not read by anyone, what Node.js prints here would keep the thread alive that started this one.
process.removeAllListeners('warning');
allowReading();

const reportOngoing: ReportOngoing = (data) => {
  const reporters = THREAD_EXTRAS.flatMap((extra) => extra.reportOngoing?.(data) ?? []);
  return (report) => {
    for (const each of reporters) each(report);
  };
};

const data = workerData as WatchdogData | object;
if ('memory' in data) {
  const memory = new SharedMemory(data.memory);
  const sleep = new ThreadSleep(memory, clockOf(data.clockOrigin));
  const post = (message: WatchdogMessage) => parentPort?.postMessage(message);
  void watchThread(data, memory, sleep, TO_MAIN_THREAD, post, reportOngoing(data));
} else {
  for (const extra of THREAD_EXTRAS) extra.watchOthers?.(data, reportOngoing);
}
