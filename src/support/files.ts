/** Files and folders that cannot hang the thread: a pipe, a device, or one below `/proc`. */
import fs from 'node:fs';
import { dirname, resolve } from 'node:path';

// Taken once: spans are made of these by `@opentelemetry/instrumentation-fs`.
const { mkdirSync, statSync } = fs;

/** Whether it is an ordinary file: to open a pipe would wait for its other end. */
export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/**
 * Makes a folder and those around it. `mkdirSync` with `recursive` never returns below `/proc`
 * (observed on Node.js 20 to 26).
 * @throws what the file system says if it cannot be made
 */
export function makeFolder(path: string): void {
  const folder = resolve(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const around = dirname(folder);
  if (around !== folder) makeFolder(around);
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process has just made it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || isFile(folder)) throw error;
  }
}
