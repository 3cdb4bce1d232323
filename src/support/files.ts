/** Files and folders that cannot hang the thread: a pipe, a device, or one below `/proc`. */
import fs from 'node:fs';
import { dirname, join, parse, resolve } from 'node:path';
import { isMainThread, threadId } from 'node:worker_threads';
import { attempt } from './guard.ts';

// Taken once: spans are made of these by `@opentelemetry/instrumentation-fs`.
const { closeSync, constants, fstatSync, mkdirSync, openSync, realpathSync, renameSync } = fs;
const { statSync, unlinkSync, writeFileSync } = fs;

/** Files of this package may tell what nobody else is to know. */
export const OWN_MODE = 0o600;
/** The folder is not ours to change, or the file is a mount of its own, as in a container. */
const CANNOT_REPLACE = ['EACCES', 'EPERM', 'EROFS', 'EBUSY'];

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

/**
 * Writes a file as a whole, and makes the folders around it: who reads it finds the old one or the
 * new one, unless only the file itself may be written. What has the name already is replaced if it
 * is an ordinary file, and keeps its permissions.
 * @throws what the file system says, or that it is no ordinary file
 */
export function writeFile(path: string, text: string): void {
  makeFolder(dirname(resolve(path)));
  const old = statSync(path, { throwIfNoEntry: false });
  if (old !== undefined && !old.isFile()) throw notOrdinary(path);
  const file = old === undefined ? path : realpathSync(path);
  const part = `${file}.${process.pid}-${threadId}.part`;
  const write = (descriptor: number) => writeFileSync(descriptor, text);
  try {
    // What a process of the same id has left.
    attempt(() => unlinkSync(part));
    withFile(part, constants.O_EXCL, write, old === undefined ? OWN_MODE : old.mode & 0o777);
    renameSync(part, file);
  } catch (error) {
    attempt(() => unlinkSync(part));
    const { code = '' } = error as NodeJS.ErrnoException;
    if (old === undefined || !CANNOT_REPLACE.includes(code)) throw error;
    withFile(file, constants.O_TRUNC, write);
  }
}

/**
 * Opens a file for writing. It may have become a pipe since, which is not waited for either.
 * @throws what the file system says, or that it is no ordinary file
 */
export function withFile(
  path: string,
  flags: number,
  write: (descriptor: number) => void,
  mode?: number,
): void {
  const { O_WRONLY, O_CREAT, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants;
  const file = openSync(path, flags | O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY, mode);
  try {
    if (!fstatSync(file).isFile()) throw notOrdinary(path);
    write(file);
  } finally {
    closeSync(file);
  }
}

const notOrdinary = (path: string) => new Error(`${path} is not an ordinary file`);

/** Empty if it is gone. */
export const workingFolder = (): string => attempt(() => process.cwd()) ?? '';

/**
 * The path that an option names: each process has a file of its own with `{pid}`, and each worker
 * thread in any case.
 */
export function fileOfThisThread(option: string): string {
  const file = resolve(option.split('{pid}').join(String(process.pid)));
  return isMainThread ? file : fileOfWorker(file, threadId);
}

/** @param file that of the main thread */
export function fileOfWorker(file: string, id: number): string {
  const { dir, name, ext } = parse(file);
  return join(dir, `${name}-worker-${id}${ext}`);
}
