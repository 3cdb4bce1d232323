/**
 * What runs on the main thread for the watchdog of worker threads. The main thread need not have
 * loaded this package: the code is evaluated there, by an inspector session. It runs inside what
 * the main thread runs, so it has no regular expression.
 *
 * It starts the one watchdog thread that all workers share, which belongs to the main thread so
 * that it outlasts each of them. While that thread exists, the exit of the main thread waits until
 * the open sessions are closed, for 500 ms at most: otherwise Node.js would print "Waiting for the
 * debugger to disconnect". Afterwards nothing is left on the main thread but the words in
 * {@link KEY}.
 */
import { BroadcastChannel, setEnvironmentData } from 'node:worker_threads';
import { ProcessWord } from '../sample/shared-memory.ts';
import { startThread } from '../support/own-threads.ts';
import { KEY, type MainThreadRequest, type WorkerMessage } from './main-thread.ts';

/** A parameter of the function around this code. */
declare const request: MainThreadRequest;

const MAX_WAIT_MILLIS = 500;

const holder = globalThis as Record<symbol, Int32Array | undefined>;
const key = Symbol.for(KEY);
const words = holder[key] ?? createWords();

function createWords(): Int32Array {
  const bytes = Int32Array.BYTES_PER_ELEMENT * Object.keys(ProcessWord).length;
  const created = new Int32Array(new SharedArrayBuffer(bytes));
  Object.defineProperty(globalThis, key, { value: created });
  setEnvironmentData(KEY, created);
  return created;
}

function closeSessions(): void {
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

function startWatchdogThread(): void {
  const { code, env } = request;
  const worker = startThread(code, { env, workerData: { words } });
  Atomics.store(words, ProcessWord.running, 1);
  process.on('exit', closeSessions);
  worker.on('error', () => {});
  worker.on('exit', () => {
    process.off('exit', closeSessions);
    Atomics.store(words, ProcessWord.running, 0);
  });
  worker.unref();
}

const isMissing = Atomics.load(words, ProcessWord.running) === 0;
if (isMissing && Atomics.load(words, ProcessWord.closing) === 0) startWatchdogThread();
const channel = new BroadcastChannel(request.channelName);
channel.postMessage({ type: 'words', words } satisfies WorkerMessage);
channel.close();
