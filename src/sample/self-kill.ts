/**
 * A process that sends itself a signal, or calls `process.reallyExit` or `process.execve`, may end
 * without an `exit` event. With an inspector session open, Node.js prints "Waiting for the debugger
 * to disconnect" then (`node_process_methods.cc`, Node.js 20 to 26).
 */
import { EventEmitter } from 'node:events';
import { constants } from 'node:os';
import { attempt } from '../support/guard.ts';
import { type AnyFunction, Patch } from '../support/patch.ts';

/**
 * Called before the process sends itself a signal that it does not handle, or ends otherwise. What
 * it returns is called if that did not end the process, or not yet. Neither may throw.
 */
export type KillListener = () => () => void;

const listeners = new Set<KillListener>();

/**
 * The wrapper calls the same original forever: others may keep it, and put it back at any time.
 * @param ends whether a call with these arguments may end the process
 */
const patchOf = (key: string, ends: (...args: never[]) => boolean) =>
  new Patch(
    process,
    key,
    (original, power) =>
      ({
        [key](...args: never[]) {
          const notified = power.on && ends(...args) ? [...listeners] : [];
          const survived = notified.map((listener) => listener());
          try {
            return original.apply(process, args);
          } finally {
            for (const listener of survived) listener();
          }
        },
      })[key] as AnyFunction,
  );

/** Number of the signal; 0 only asks. */
const mayEnd = (pid: number, signal: number) =>
  attempt(() => signal > 0 && isOwn(Number(pid)) && !isHandled(signal)) === true;

const patches = [
  // `process.kill` calls it.
  patchOf('_kill', mayEnd),
  // These emit no `exit` event: `process.exit` calls the first one after its own.
  patchOf('reallyExit', () => true),
  patchOf('execve', () => true),
];

export function listenToSelfKill(listener: KillListener): void {
  listeners.add(listener);
  for (const patch of patches) attempt(() => patch.apply());
}

export function leaveSelfKill(listener: KillListener): void {
  listeners.delete(listener);
  if (listeners.size > 0) return;
  for (const patch of patches) attempt(() => patch.putBack());
}

/** A process, its group, or all that it may send signals to. */
const isOwn = (pid: number) => pid === 0 || pid === -1 || Math.abs(pid) === process.pid;

/** Hidden listeners are counted as well. */
const isHandled = (signal: number) =>
  Object.entries(constants.signals).some(
    ([name, number]) =>
      number === signal && EventEmitter.prototype.listenerCount.call(process, name) > 0,
  );
