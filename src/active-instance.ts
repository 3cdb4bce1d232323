/**
 * One instrumentation is active per thread. An application that registers it twice, or has two
 * copies of the package in the tree, still gets every block once: the instance that was enabled
 * last is active, the earlier ones are paused, and the latest of these becomes active again when it
 * is disabled.
 */
import { perThread } from './support/per-thread.ts';
import type { EventLoopHealth, LoopProfile } from './types.ts';
import { PACKAGE_NAME } from './version.ts';

export interface Claimant {
  activate(): void;
  deactivate(): void;
  /** Undefined if it is not active. */
  health(windowMillis: number): EventLoopHealth | undefined;
  /** Undefined if it is not active. */
  loopProfile?(windowMillis?: number): LoopProfile | undefined;
  /** Reports what has ended, the running callback included, for a process that exits. */
  settle?(): void;
  /** Writes what it writes at the end of a process, which a signal ends without an `exit` event. */
  endBySignal?(): void;
  /** True for the entry `/console`: active only while no instance is enabled. */
  readonly yields?: boolean;
}

const KEY = Symbol.for(`${PACKAGE_NAME}.instances.v1`);

/** All that are enabled, in that order: the last one is active. */
function enabledInstances(): Claimant[] {
  return perThread(KEY, (): Claimant[] => []);
}

/**
 * Makes this the active instance, unless it yields to one that is enabled. Returns whether another
 * one, which does not yield, was paused for it.
 */
export function takeOver(claimant: Claimant): boolean {
  const instances = enabledInstances();
  const previous = instances[instances.length - 1];
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

/** Has the active instance report what has ended. */
export function settleActive(): void {
  const instances = enabledInstances();
  instances[instances.length - 1]?.settle?.();
}

/** The process ends by a signal now, without an `exit` event. */
export function endActiveBySignal(): void {
  const instances = enabledInstances();
  instances[instances.length - 1]?.endBySignal?.();
}

/** The health that the active instance measures. */
export function activeHealth(windowMillis: number): EventLoopHealth | undefined {
  const instances = enabledInstances();
  return instances[instances.length - 1]?.health?.(windowMillis);
}

/** The loop profile of the active instance, by default of the longest period. */
export function activeLoopProfile(windowMillis?: number): LoopProfile | undefined {
  const instances = enabledInstances();
  return instances[instances.length - 1]?.loopProfile?.(windowMillis);
}

/** Removes this instance; if it was active, the one before becomes active. */
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
