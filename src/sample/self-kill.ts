/**
 * A process that sends itself a signal may end by it without an `exit` event. Before that, Node.js
 * does what it does at an exit (`Kill` in `node_process_methods.cc`, Node.js 20 to 26): with an
 * inspector session open it prints "Waiting for the debugger to disconnect".
 */
import { EventEmitter } from 'node:events';
import { constants } from 'node:os';
import { attempt } from '../support/guard.ts';
import { Patch } from '../support/patch.ts';

/**
 * Called before the process sends itself a signal that it does not handle. What it returns is
 * called if the signal did not end the process, or not yet. Neither may throw.
 */
export type KillListener = () => () => void;

/** What `process.kill` calls with the number of the signal; 0 only asks. */
type Kill = (pid: number, signal: number) => unknown;

const listeners = new Set<KillListener>();
const patch = new Patch<Kill>(
  process,
  '_kill',
  (original, power) =>
    ({
      /** What it calls never changes: others may keep it, and put it back at any time. */
      _kill(pid: number, signal: number) {
        const notified = power.on && mayEnd(pid, signal) ? [...listeners] : [];
        const survived = notified.map((listener) => listener());
        try {
          return original.call(process, pid, signal);
        } finally {
          for (const listener of survived) listener();
        }
      },
    })._kill,
);

export function listenToSelfKill(listener: KillListener): void {
  listeners.add(listener);
  attempt(() => patch.apply());
}

export function leaveSelfKill(listener: KillListener): void {
  listeners.delete(listener);
  if (listeners.size === 0) attempt(() => patch.putBack());
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
