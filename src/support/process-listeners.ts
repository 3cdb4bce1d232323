/**
 * Listeners of `process`. Guarantees: Node.js warns of too many listeners when it would without
 * this package, or later: each of its own is added to the maximum.
 */
import type { EventEmitter } from 'node:events';

type Listener = (...args: never[]) => void;
const emitter: EventEmitter = process;
let ours: { event: string; listener: () => void }[] = [];

/** @param first before those that there are */
export function listen(event: string, listener: Listener, first = false): void {
  changeMaximum(1);
  ours.push({ event, listener: listener as () => void });
  if (first) emitter.prependListener(event, listener as () => void);
  else emitter.on(event, listener as () => void);
}

/** Does nothing if it does not listen. */
export function unlisten(event: string, listener: Listener): void {
  const others = ours.filter((each) => each.event !== event || each.listener !== listener);
  if (others.length === ours.length) return;
  ours = others;
  emitter.off(event, listener as () => void);
  changeMaximum(-1);
}

/** Code that removes all listeners of `process` before it exits, as Strapi does, removes ours. */
export function listenAgain(): void {
  for (const { event, listener } of ours)
    if (!emitter.listeners(event).includes(listener)) emitter.on(event, listener);
}

function changeMaximum(by: number): void {
  const maximum = process.getMaxListeners();
  // 0: there is no maximum.
  if (maximum > 0) process.setMaxListeners(Math.max(1, maximum + by));
}
