/**
 * A process that sends itself a signal may end by it without an `exit` event. Before that, Node.js
 * does what it does at an exit (`Kill` in `node_process_methods.cc`, Node.js 20 to 26): with an
 * inspector session open it prints "Waiting for the debugger to disconnect".
 */
import { EventEmitter } from 'node:events';
import { constants } from 'node:os';
import { attempt } from '../support/guard.ts';

/** Neither may throw. */
export interface KillListener {
  /** The process is about to send itself a signal that it does not handle. */
  killing(): void;
  /** The signal did not end it, or not yet. */
  survived(): void;
}

/** What `process.kill` calls with the number of the signal; 0 only asks. */
type Kill = (pid: number, signal: number) => unknown;

const killer = process as unknown as { _kill?: Kill };
const listeners = new Set<KillListener>();
let installed: { readonly wrapper: Kill; readonly original: Kill } | undefined;

export function listenToSelfKill(listener: KillListener): void {
  listeners.add(listener);
  const original = killer._kill;
  // Where others have wrapped ours, it is still in there.
  if (installed !== undefined || typeof original !== 'function') return;
  const wrapper = wrap(original);
  // Throws where `process` is frozen.
  attempt(() => {
    killer._kill = wrapper;
    installed = { wrapper, original };
  });
}

export function leaveSelfKill(listener: KillListener): void {
  listeners.delete(listener);
  if (listeners.size > 0 || installed === undefined || killer._kill !== installed.wrapper) return;
  const { original } = installed;
  attempt(() => {
    killer._kill = original;
    installed = undefined;
  });
}

/** What it calls never changes: others may keep it, and put it back at any time. */
function wrap(original: Kill): Kill {
  return (pid, signal) => {
    const notified = mayEnd(pid, signal) ? [...listeners] : [];
    for (const listener of notified) listener.killing();
    try {
      return original.call(process, pid, signal);
    } finally {
      for (const listener of notified) listener.survived();
    }
  };
}

const mayEnd = (pid: number, signal: number) =>
  attempt(() => signal > 0 && isOwn(Number(pid)) && !isHandled(signal)) === true;

/** A process, its group, or all that it may send signals to. */
const isOwn = (pid: number) => pid === 0 || pid === -1 || Math.abs(pid) === process.pid;

/** Hidden listeners are counted as well. */
const isHandled = (signal: number) =>
  Object.entries(constants.signals).some(
    ([name, number]) =>
      number === signal && EventEmitter.prototype.listenerCount.call(process, name) > 0,
  );
