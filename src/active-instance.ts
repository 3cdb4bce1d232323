/**
 * One instrumentation is active per thread. An application that registers it twice, or has two
 * copies of the package in the tree, still gets every block once: the instance that was enabled
 * last is active, the earlier ones are paused, and the latest of these becomes active again when it
 * is disabled.
 */
import { perThread } from './support/per-thread.ts';
import type { EventLoopHealth } from './types.ts';
import { PACKAGE_NAME } from './version.ts';

/** The session of an instance, as any copy of the package may ask it. None of it throws. */
interface ActiveSession {
  health(windowMillis: number): EventLoopHealth | undefined;
  /** Reports what has ended, the running callback included, for a process that exits. */
  settle(): void;
  /** Writes what it writes at the end of a process, which a signal ends without an `exit` event. */
  endBySignal(): void;
}

export interface Claimant {
  activate(): void;
  deactivate(): void;
  /** Undefined if it is not active. */
  session(): ActiveSession | undefined;
  /** True for the entry `/console`: active only while no instance is enabled. */
  readonly yields?: boolean;
}

const KEY = Symbol.for(`${PACKAGE_NAME}.instances.v2`);

/** All that are enabled, in that order: the last one is active. */
const enabledInstances = () => perThread(KEY, (): Claimant[] => []);

/**
 * Makes this the active instance, unless it yields to one that is enabled. Returns whether another
 * one, which does not yield, was paused for it.
 */
export function takeOver(claimant: Claimant): boolean {
  const instances = enabledInstances();
  const previous = instances.at(-1);
  if (claimant.yields === true && previous !== undefined) {
    instances.unshift(claimant);
    return false;
  }
  previous?.deactivate();
  instances.push(claimant);
  claimant.activate();
  return previous !== undefined && previous.yields !== true;
}

/** Whether one that does not yield is enabled, of whichever copy of the package. */
export function isAnyEnabled(): boolean {
  return enabledInstances().some(({ yields }) => yields !== true);
}

/** The session of the active instance, of whichever copy of the package. */
export const activeSession = () => enabledInstances().at(-1)?.session();

/** Removes this instance; if it was active, the one before becomes active. */
export function stepBack(claimant: Claimant): void {
  const instances = enabledInstances();
  const index = instances.lastIndexOf(claimant);
  if (index === -1) return;
  const wasActive = index === instances.length - 1;
  instances.splice(index, 1);
  if (!wasActive) return;
  claimant.deactivate();
  instances.at(-1)?.activate();
}
