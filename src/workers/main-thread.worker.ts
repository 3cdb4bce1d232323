/**
 * What runs on the main thread for the watchdog of worker threads. The main thread need not have
 * loaded this package: the code is evaluated there, by an inspector session. It runs inside what
 * the main thread runs, so it has no regular expression.
 *
 * It starts the one watchdog thread that all workers share, which belongs to the main thread so
 * that it outlasts each of them; and it listens for the exit of the main thread, and for a signal
 * that this sends to its own process. A session that is open then would have Node.js print "Waiting
 * for the debugger to disconnect", so the end waits, for 500 ms at most, until the sessions are
 * closed.
 */
import { BroadcastChannel, setEnvironmentData, Worker } from 'node:worker_threads';
import { THREAD_OPTIONS } from '../sample/thread-options.ts';
import { Patch } from '../support/patch.ts';
import { KEY, type MainThreadMessage, type MainThreadRequest, ProcessFlag } from './main-thread.ts';

/** A parameter of the function around this code. */
declare const request: MainThreadRequest;

const MAX_WAIT_MILLIS = 500;

const holder = globalThis as Record<symbol, Int32Array | undefined>;
const key = Symbol.for(KEY);
const flags = holder[key] ?? prepare();

function prepare(): Int32Array {
  const created = new Int32Array(new SharedArrayBuffer(4 * Object.keys(ProcessFlag).length));
  Object.defineProperty(globalThis, key, { value: created });
  setEnvironmentData(KEY, created);
  const close = () => waitForSessions(created);
  process.on('exit', close);
  type Kill = (pid: number, signal: number) => unknown;
  const wrap = (original: Kill) =>
    ({
      _kill(pid: number, signal: number) {
        const before = Atomics.load(created, ProcessFlag.closing);
        // biome-ignore lint/suspicious/noDoubleEquals: as Node.js takes it, '0' is 0
        if (signal > 0 && (pid == 0 || pid == -1 || Math.abs(pid) === process.pid)) close();
        try {
          return original.call(process, pid, signal);
        } finally {
          Atomics.store(created, ProcessFlag.closing, before);
        }
      },
    })._kill;
  new Patch<Kill>(process, '_kill', wrap).apply();
  return created;
}

function waitForSessions(all: Int32Array): void {
  Atomics.store(all, ProcessFlag.closing, 1);
  for (;;) {
    const open = Atomics.load(all, ProcessFlag.openSessions);
    if (open <= 0) break;
    const outcome = Atomics.wait(all, ProcessFlag.openSessions, open, MAX_WAIT_MILLIS);
    if (outcome === 'timed-out') break;
  }
  const handleInterrupts = (n: number) => n + 1;
  for (let n = 0; n < 100; ) n = handleInterrupts(n);
}

const isMissing = Atomics.load(flags, ProcessFlag.running) === 0;
if (isMissing && Atomics.load(flags, ProcessFlag.closing) === 0) {
  const { code, env } = request;
  const worker = new Worker(code, { ...THREAD_OPTIONS, env, workerData: { flags } });
  Atomics.store(flags, ProcessFlag.running, 1);
  worker.on('error', () => {});
  worker.on('exit', () => Atomics.store(flags, ProcessFlag.running, 0));
  worker.unref();
}
const channel = new BroadcastChannel(request.channelName);
const message: MainThreadMessage = { type: 'flags', flags };
channel.postMessage(message);
channel.close();
