/**
 * A process that sends itself a signal may end by it without an `exit` event. Before that, Node.js
 * does what it does at an exit (`Kill` in `node_process_methods.cc`, Node.js 20 to 26): with an
 * inspector session open it prints "Waiting for the debugger to disconnect", and waits.
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
let original: Kill | undefined;

const kill: Kill = (pid, signal) => {
  const mayEnd = signal > 0 && isOwn(Number(pid)) && !isHandled(signal);
  const notified = mayEnd ? [...listeners] : [];
  for (const listener of notified) listener.killing();
  try {
    return original?.call(process, pid, signal);
  } finally {
    for (const listener of notified) listener.survived();
  }
};

/** A process, its group, or all that it may send signals to. */
const isOwn = (pid: number) => pid === 0 || pid === -1 || Math.abs(pid) === process.pid;

/** Hidden listeners are counted as well. */
const isHandled = (signal: number) =>
  Object.entries(constants.signals).some(
    ([name, number]) =>
      number === signal && EventEmitter.prototype.listenerCount.call(process, name) > 0,
  );

export function listenToSelfKill(listener: KillListener): void {
  listeners.add(listener);
  // Others may have wrapped it meanwhile, and then it is still there.
  if (original !== undefined || typeof killer._kill !== 'function') return;
  original = killer._kill;
  if (attempt(() => replace(kill)) === undefined) original = undefined;
}

export function leaveSelfKill(listener: KillListener): void {
  listeners.delete(listener);
  const before = original;
  if (listeners.size > 0 || before === undefined || killer._kill !== kill) return;
  if (attempt(() => replace(before)) !== undefined) original = undefined;
}

/** Throws where `process` is frozen. */
function replace(by: Kill): Kill {
  killer._kill = by;
  return by;
}
