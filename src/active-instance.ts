/**
 * One reporter per thread. Whoever registers the instrumentation twice, or has two copies of the package in the tree,
 * still gets every block once: the instance that was enabled last reports, the others wait, and the one before takes over
 * when it is disabled. Works across copies: the list is found under a registered symbol.
 */
import type { EventLoopHealth } from './types.ts';

export interface Claimant {
  activate(): void;
  deactivate(): void;
  /** Undefined where it is not active. */
  health(windowMillis: number): EventLoopHealth | undefined;
}

const KEY = Symbol.for('opentelemetry-instrumentation-event-loop.instances.v1');

/** Used where nothing can be put on globalThis (frozen): then only this copy's instances know of each other. */
const own: Claimant[] = [];

function enabledInstances(): Claimant[] {
  const holder = globalThis as { [KEY]?: unknown };
  try {
    if (!Array.isArray(holder[KEY])) Object.defineProperty(holder, KEY, { value: own, configurable: true });
    return holder[KEY] as Claimant[];
  } catch {
    return own;
  }
}

/** Makes this the active instance. Returns whether another one had to step back. */
export function takeOver(claimant: Claimant): boolean {
  const instances = enabledInstances();
  const previous = instances[instances.length - 1];
  previous?.deactivate();
  instances.push(claimant);
  claimant.activate();
  return previous !== undefined;
}

/** Whether one is enabled, of whichever copy of the package. */
export function isAnyEnabled(): boolean {
  return enabledInstances().length > 0;
}

/** Health as the active instance sees it, whichever that is. */
export function activeHealth(windowMillis: number): EventLoopHealth | undefined {
  const instances = enabledInstances();
  return instances[instances.length - 1]?.health?.(windowMillis);
}

/** Steps back; the instance that was active before takes over. */
export function stepBack(claimant: Claimant): void {
  const instances = enabledInstances();
  const index = instances.lastIndexOf(claimant);
  if (index === -1) return;
  const wasActive = index === instances.length - 1;
  instances.splice(index, 1);
  if (!wasActive) return;
  claimant.deactivate();
  instances[instances.length - 1]?.activate();
}
