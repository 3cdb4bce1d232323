/**
 * Lines on stderr. Guarantees: each is whole; none is lost while the process lives and no more than
 * 1 MB waits for a slow reader; nothing throws or emits an error.
 *
 * A file, a terminal, and a pipe that the application has not used yet take all of a line at once.
 * The first use of `process.stderr` makes a pipe non-blocking. From then on half a line of the
 * application may wait in that stream, so lines go through it, behind what waits; but not through
 * its `write`, which the application may have replaced.
 */
import fs from 'node:fs';
import { Writable } from 'node:stream';
import { isMainThread } from 'node:worker_threads';
import { PACKAGE_NAME } from '../version.ts';
import { printable } from './escape.ts';
import { workingFolder } from './files.ts';
import { attempt } from './guard.ts';
import { now, setImmediate, wait } from './time.ts';

// Taken once: spans are made of it by `@opentelemetry/instrumentation-fs`.
const { readFileSync } = fs;
const { write } = Writable.prototype;

const STDERR = 2;
const FLAGS = 'flags:';
const O_NONBLOCK = 0o4000;
const MAX_WAITING_LENGTH = 1 << 20;
/** How long a process that ends, or a thread beside a blocked one, waits for a slow reader. */
const MAX_WAIT_MILLIS = 200;
const RETRY_MILLIS = 2;
const sleepCell = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** The getter of Node.js: an application may replace the property. */
const getStderr = Object.getOwnPropertyDescriptor(process, 'stderr')?.get;
const stderr = (): NodeJS.WriteStream => getStderr?.call(process) ?? process.stderr;

/** Lines that the stream has not written yet. */
const waiting = new Set<{ readonly text: string }>();
let waitingLength = 0;

/**
 * @param lines are given the working directory
 * @param isLast the process ends: the stream writes nothing any more
 */
export function writeLines(lines: (cwd: string) => readonly string[], isLast = false): void {
  attempt(() => {
    const text = `${lines(workingFolder()).join('\n')}\n`;
    const isInTurn = isMainThread && isNonBlocking();
    if (!isInTurn) writeNow(text);
    else if (!isLast) writeInTurn(stderr(), text);
    else if (stderr().writableLength === 0) writeNow(text);
    // Half a line may wait in the stream: what comes begins a line of its own.
    else writeNow(`\n${[...waiting].map((each) => each.text).join('')}${text}`);
  });
}

/**
 * Whether half a line of the application waits, and what another thread writes would be glued to
 * it. Runs inside stack samples.
 */
export const mayHoldHalfLine = (): boolean =>
  attempt(() => isNonBlocking() && stderr().writableLength > 0) === true;

/** One line of another thread than the one that {@link mayHoldHalfLine} was asked in. */
export function writeLineBeside(line: string, afterHalfLine: boolean): void {
  attempt(() => writeNow(`${afterHalfLine ? '\n' : ''}${line}\n`));
}

/** Messages of a preloaded entry, before there is a logger. */
export const sayAs = (entry: string) => (message: string, detail?: unknown) => {
  const more = detail instanceof Error ? `: ${detail.message}` : '';
  writeLines(() => [
    printable(`${PACKAGE_NAME}/${entry}: ${message}${more}`, Number.POSITIVE_INFINITY),
  ]);
};

/** Asked each time: the first use of `process.stderr` changes it, and so may another process. */
function isNonBlocking(): boolean {
  const info = attempt(() => readFileSync(`/proc/self/fdinfo/${STDERR}`, 'latin1'));
  if (info !== undefined)
    return (Number.parseInt(info.slice(info.indexOf(FLAGS) + FLAGS.length), 8) & O_NONBLOCK) !== 0;
  const stats = fs.fstatSync(STDERR);
  return stats.isFIFO() || stats.isSocket();
}

function writeInTurn(stream: NodeJS.WriteStream, text: string): void {
  if (waitingLength + text.length > MAX_WAITING_LENGTH) return;
  const each = { text };
  // An error of a stream without a listener ends the process.
  if (waiting.size === 0) startIgnoringErrors(stream);
  waiting.add(each);
  waitingLength += text.length;
  write.call(stream, text, 'utf8', () => {
    waiting.delete(each);
    waitingLength -= text.length;
    // The error is emitted after this.
    if (waiting.size === 0) setImmediate(stopIgnoringErrors, stream).unref();
  });
}

const ignore = () => {};
let isIgnoring = false;

/** One listener for all lines, which is added to the maximum: Node.js warns of too many. */
function startIgnoringErrors(stream: NodeJS.WriteStream): void {
  if (isIgnoring) return;
  isIgnoring = true;
  const maximum = stream.getMaxListeners();
  if (maximum > 0) stream.setMaxListeners(maximum + 1);
  stream.on('error', ignore);
}

function stopIgnoringErrors(stream: NodeJS.WriteStream): void {
  if (waiting.size > 0 || !isIgnoring) return;
  isIgnoring = false;
  stream.off('error', ignore);
  const maximum = stream.getMaxListeners();
  if (maximum > 0) stream.setMaxListeners(maximum - 1);
}

function writeNow(text: string): void {
  const bytes = Buffer.from(text);
  const end = now() + MAX_WAIT_MILLIS;
  for (let written = 0; written < bytes.length && now() < end; ) {
    try {
      written += fs.writeSync(STDERR, bytes, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      wait(sleepCell, 0, 0, RETRY_MILLIS);
    }
  }
}
