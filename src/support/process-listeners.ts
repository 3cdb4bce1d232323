/**
 * Listeners of `process`. Guarantees: Node.js warns of too many listeners when it would without
 * this package, or later: each of its own is added to the maximum.
 */
import { EventEmitter } from 'node:events';
import { perThread } from './copies.ts';
import { attempt } from './guard.ts';

type Listener = (...args: never[]) => void;
const emitter: EventEmitter = process;
/** What the application makes of `process.listeners`, to hide some, does not apply. */
const { listeners: listenersOf, getMaxListeners, setMaxListeners } = EventEmitter.prototype;
/** A listener of a signal: see `signal-listener.ts`. */
interface OfSignal {
  readonly signal: NodeJS.Signals;
  readonly isListening: boolean;
  listen(): void;
  letGo(isAtEnd: boolean): void;
}

/** Work when the event loop has nothing left to do: see `loop-end.ts`. */
interface AtLoopEnd {
  add(work: () => Promise<unknown> | undefined): void;
  remove(work: () => Promise<unknown> | undefined): void;
}

/** Of all copies of this package in the thread. */
export const all = perThread('process.v1', () => ({
  ours: [] as { event: string; listener: () => void }[],
  /** How many of ours are in the maximum, since the application has set one. */
  added: 0,
  maximumSet: Number.NaN,
  /** To each other they are none. */
  ofSignals: new Map<unknown, OfSignal>(),
  /** How many listen for `removeListener`, before the application does. */
  othersForRemoval: process.listenerCount('removeListener'),
  loopEnd: undefined as AtLoopEnd | undefined,
}));

export const countOurs = (of: string): number =>
  all.ours.filter(({ event }) => event === of).length;

/** @param first before those that there are */
export function listen(event: string, listener: Listener, first = false): void {
  changeMaximum(1);
  all.ours.push({ event, listener: listener as () => void });
  if (first) emitter.prependListener(event, listener as () => void);
  else emitter.on(event, listener as () => void);
}

/** Does nothing if it does not listen. */
export function unlisten(event: string, listener: Listener): void {
  const others = all.ours.filter((each) => each.event !== event || each.listener !== listener);
  if (others.length === all.ours.length) return;
  all.ours = others;
  emitter.off(event, listener as () => void);
  changeMaximum(-1);
}

/** Code that removes all listeners of `process` before it exits, as Strapi does, removes ours. */
export function listenAgain(): void {
  for (const { event, listener } of all.ours) {
    const isThere = listenersOf.call(process, event).includes(listener);
    if (!isThere) attempt(() => emitter.on(event, listener));
  }
}

/** For a listener more, or one less. */
export function changeMaximum(by: 1 | -1): void {
  const maximum = getMaxListeners.call(process);
  // There is none.
  if (maximum === 0) return;
  if (maximum !== all.maximumSet) all.added = 0;
  if (all.added + by < 0) return;
  all.added += by;
  all.maximumSet = maximum + by;
  setMaxListeners.call(process, all.maximumSet);
}
