/**
 * Listeners of `process`. Guarantees: Node.js warns of too many listeners when it would without
 * this package, or later: its own are added to the maximum, as long as the application sets none.
 */
import type { EventEmitter } from 'node:events';

type Listener = (...args: never[]) => void;
const emitter: EventEmitter = process;
const ours = new Map<string, Set<Listener>>();
let added = 0;

/** @param first before those that there are */
export function listen(event: string, listener: Listener, first = false): void {
  const listeners = ours.get(event) ?? new Set();
  ours.set(event, listeners.add(listener));
  raiseMaximum();
  if (first) emitter.prependListener(event, listener as () => void);
  else emitter.on(event, listener as () => void);
}

export function unlisten(event: string, listener: Listener): void {
  emitter.off(event, listener as () => void);
  if (ours.get(event)?.delete(listener)) raiseMaximum();
}

function raiseMaximum(): void {
  const wanted = Math.max(...[...ours.values()].map(({ size }) => size));
  const maximum = process.getMaxListeners();
  // 0: there is no maximum.
  if (maximum > 0) process.setMaxListeners(maximum + wanted - added);
  added = wanted;
}
