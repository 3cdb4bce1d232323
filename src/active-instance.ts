/**
 * One instrumentation is active per thread. An application that registers it twice, or has two
 * copies of the package in the tree, still gets every block once: the instance that was enabled
 * last is active, the earlier ones are paused, and the latest of these becomes active again when it
 * is disabled.
 */
import { type Claimant, copies } from './support/copies.ts';

/**
 * Makes this the active instance, unless it yields to one that is enabled. Returns whether another
 * one, which does not yield, was paused for it.
 */
export function takeOver(claimant: Claimant): boolean {
  const { instances } = copies();
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
  return copies().instances.some(({ yields }) => yields !== true);
}

/** The session of the active instance, of whichever copy of the package. */
export const activeSession = () => copies().instances.at(-1)?.session();

/** Removes this instance; if it was active, the one before becomes active. */
export function stepBack(claimant: Claimant): void {
  const { instances } = copies();
  const index = instances.lastIndexOf(claimant);
  if (index === -1) return;
  const wasActive = index === instances.length - 1;
  instances.splice(index, 1);
  if (!wasActive) return;
  claimant.deactivate();
  instances.at(-1)?.activate();
}
