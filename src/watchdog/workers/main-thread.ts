/**
 * What runs on the main thread for the watchdog of worker threads. The main thread need not have
 * loaded this package: the code is evaluated there, by an inspector session.
 *
 * It starts the one watchdog thread that all workers share, which belongs to the main thread so
 * that it outlasts each of them; and it listens for the exit of the main thread, and for a signal
 * that this sends to its own process. A session that is open then would have Node.js print "Waiting
 * for the debugger to disconnect", so the end waits, for 500 ms at most, until the sessions are
 * closed.
 */
import { PACKAGE_NAME, PACKAGE_VERSION } from '../../version.ts';
import type { WatchdogMessage } from '../protocol.ts';
import { THREAD_OPTIONS } from '../thread-options.ts';

/**
 * The flags on the main thread, and in what workers that are started later inherit; the channel by
 * which a thread asks to be watched. Another version of the package has its own.
 */
export const KEY = `${PACKAGE_NAME}.${PACKAGE_VERSION}.workers`;

/** Index in the flags, which are one `Int32Array` for the process. */
export const ProcessFlag = {
  /** How many sessions are open, or about to be. */
  openSessions: 0,
  /** 1 from when the main thread exits: no session may be opened then. */
  closing: 1,
  /** 1 while the watchdog thread of the workers exists. */
  running: 2,
  /** Changes where a thread wakes that watchdog thread. */
  bell: 3,
} as const;

/** Sent to the thread that had the code evaluated. */
export type MainThreadMessage = { readonly type: 'flags'; readonly flags: Int32Array };

/** What a thread is sent by its channel. */
export type WorkerMessage = MainThreadMessage | WatchdogMessage;

/** What the watchdog thread of the workers is started with. */
export interface SharedWatchdogData {
  readonly flags: Int32Array;
}

/** Runs inside what the main thread runs: no regular expression in it. */
const ON_MAIN_THREAD = `(channelName, code, env) => {
  'use strict';
  const load = (id) => process.getBuiltinModule(id);
  const { BroadcastChannel, Worker, setEnvironmentData } = load('node:worker_threads');
  const key = Symbol.for('${KEY}');
  let flags = globalThis[key];
  if (flags === undefined) {
    flags = new Int32Array(new SharedArrayBuffer(16));
    Object.defineProperty(globalThis, key, { value: flags });
    setEnvironmentData('${KEY}', flags);
    const close = () => {
      Atomics.store(flags, ${ProcessFlag.closing}, 1);
      for (let open; (open = Atomics.load(flags, ${ProcessFlag.openSessions})) > 0; )
        if (Atomics.wait(flags, ${ProcessFlag.openSessions}, open, 500) === 'timed-out') break;
      const handleInterrupts = (n) => n + 1;
      for (let n = 0; n < 100; ) n = handleInterrupts(n);
    };
    process.on('exit', close);
    const { _kill } = process;
    if (typeof _kill === 'function' && Object.getOwnPropertyDescriptor(process, '_kill')?.writable)
      process._kill = (pid, signal) => {
        const before = Atomics.load(flags, ${ProcessFlag.closing});
        if (signal > 0 && (pid == 0 || pid == -1 || Math.abs(pid) === process.pid)) close();
        try {
          return _kill.call(process, pid, signal);
        } finally {
          Atomics.store(flags, ${ProcessFlag.closing}, before);
        }
      };
  }
  const isMissing = Atomics.load(flags, ${ProcessFlag.running}) === 0;
  if (isMissing && Atomics.load(flags, ${ProcessFlag.closing}) === 0) {
    const worker = new Worker(code, {
      ...${JSON.stringify(THREAD_OPTIONS)},
      env,
      workerData: { flags },
    });
    Atomics.store(flags, ${ProcessFlag.running}, 1);
    worker.on('error', () => {});
    worker.on('exit', () => Atomics.store(flags, ${ProcessFlag.running}, 0));
    worker.unref();
  }
  const channel = new BroadcastChannel(channelName);
  channel.postMessage({ type: 'flags', flags });
  channel.close();
}`;

/** @param channelName of the channel by which the flags are sent to the thread that asks */
export function startOnMainThread(
  channelName: string,
  code: string,
  env: Record<string, string>,
): string {
  const args = [channelName, code, env].map((arg) => JSON.stringify(arg));
  return `(${ON_MAIN_THREAD})(${args.join()})`;
}

/** Whether a debugger can be attached to the process: Node.js says it on the main thread only. */
export const IS_INSPECTED = `process.getBuiltinModule('node:inspector').url() !== undefined`;
