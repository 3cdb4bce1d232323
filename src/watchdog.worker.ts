/**
 * The watchdog thread: that of the main thread, or the one that all worker threads share. Its loop,
 * and its reports of ongoing blocks. Bundled into a string at build time
 * (`scripts/bundle-workers.mjs`), so that it survives every bundler.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { TO_MAIN_THREAD } from './core/sample/capture-session.ts';
import { clockOf } from './core/sample/clock-origin.ts';
import type { WatchdogData, WatchdogMessage } from './core/sample/protocol.ts';
import { SharedMemory } from './core/sample/shared-memory.ts';
import { ThreadSleep } from './core/sample/thread-sleep.ts';
import { watchThread } from './core/sample/watchdog-loop.ts';
import { allowReading } from './support/reading.ts';
import { ongoingReporter } from './threads/ongoing/ongoing-reporter.ts';
import { WatchedThreads } from './threads/workers/watched-threads.ts';

// Not read by anyone, what Node.js prints here would keep the thread alive that started this one.
process.removeAllListeners('warning');
allowReading();

const data = workerData as WatchdogData | { readonly words: Int32Array };
if ('memory' in data) {
  const memory = new SharedMemory(data.memory);
  const sleep = new ThreadSleep(memory, clockOf(data.clockOrigin));
  const post = (message: WatchdogMessage) => parentPort?.postMessage(message);
  void watchThread(data, memory, sleep, TO_MAIN_THREAD, post, ongoingReporter(data));
} else {
  // See `ProcessWord`.
  new WatchedThreads(data.words, ongoingReporter).start();
}
