/**
 * The start of the one watchdog thread that all workers share. Main thread only; it may run inside
 * what that runs, so it has no regular expression.
 *
 * The thread belongs to the main thread so that it outlasts each worker. While it exists, the exit
 * of the main thread waits until the open sessions are closed, for 500 ms at most: otherwise
 * Node.js would print "Waiting for the debugger to disconnect".
 */
import { setEnvironmentData, type Worker } from 'node:worker_threads';
import { ProcessWord } from '../../core/sample/shared-memory.ts';
import { startThread } from '../../support/own-threads.ts';
import { KEY } from './main-thread.ts';

const MAX_WAIT_MILLIS = 500;

/** The words of the process. Workers that are started later inherit them. */
export function sharedWords(): Int32Array {
  const holder = globalThis as Record<symbol, Int32Array | undefined>;
  const key = Symbol.for(KEY);
  const existing = holder[key];
  if (existing !== undefined) return existing;
  const bytes = Int32Array.BYTES_PER_ELEMENT * Object.keys(ProcessWord).length;
  const created = new Int32Array(new SharedArrayBuffer(bytes));
  Object.defineProperty(globalThis, key, { value: created });
  setEnvironmentData(KEY, created);
  return created;
}

/** @returns undefined if it runs, or the main thread exits */
export function startSharedThread(
  words: Int32Array,
  code: string,
  env: Record<string, string>,
): Worker | undefined {
  const isRunning = Atomics.load(words, ProcessWord.running) === 1;
  if (isRunning || Atomics.load(words, ProcessWord.closing) === 1) return undefined;
  const worker = startThread(code, { env, workerData: { words } });
  const closeSessions = () => closeSessionsOf(words);
  Atomics.store(words, ProcessWord.running, 1);
  process.on('exit', closeSessions);
  worker.on('error', () => {});
  worker.on('exit', () => {
    process.off('exit', closeSessions);
    Atomics.store(words, ProcessWord.running, 0);
  });
  worker.unref();
  return worker;
}

function closeSessionsOf(words: Int32Array): void {
  Atomics.store(words, ProcessWord.closing, 1);
  for (;;) {
    const open = Atomics.load(words, ProcessWord.openSessions);
    if (open <= 0) break;
    const outcome = Atomics.wait(words, ProcessWord.openSessions, open, MAX_WAIT_MILLIS);
    if (outcome === 'timed-out') break;
  }
  const handleInterrupts = (n: number) => n + 1;
  for (let n = 0; n < 100; ) n = handleInterrupts(n);
}
