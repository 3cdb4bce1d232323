/**
 * Listeners of `process`. Guarantees: Node.js warns of too many listeners when it would without
 * this package, or later: each of its own is added to the maximum.
 */
import type { EventEmitter } from 'node:events';

type Listener = (...args: never[]) => void;
const emitter: EventEmitter = process;

/** @param first before those that there are */
export function listen(event: string, listener: Listener, first = false): void {
  changeMaximum(1);
  if (first) emitter.prependListener(event, listener as () => void);
  else emitter.on(event, listener as () => void);
}

/** Does nothing if it does not listen. */
export function unlisten(event: string, listener: Listener): void {
  if (!emitter.listeners(event).includes(listener)) return;
  emitter.off(event, listener as () => void);
  changeMaximum(-1);
}

function changeMaximum(by: number): void {
  const maximum = process.getMaxListeners();
  // 0: there is no maximum.
  if (maximum > 0) process.setMaxListeners(Math.max(1, maximum + by));
}
