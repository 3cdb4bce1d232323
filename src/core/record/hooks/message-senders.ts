/**
 * Which code has started the threads and processes whose messages come: when a message is
 * deserialized, nothing is on the stack yet.
 *
 * Guarantees: it costs a stack trace for each thread or process that is started, and keeps one for
 * each worker thread that lives, and two more. It never throws.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { types } from 'node:util';
import { MessagePort, parentPort } from 'node:worker_threads';
import type { StackFrame } from '../../../block.ts';
import { attempt } from '../../../support/guard.ts';
import { isNodeFile } from '../../explain/name/in-app.ts';
import { captureStack } from '../../sample/stack.ts';

/** Published in the constructors, so the caller is on the stack (Node.js 20 to 26). */
const CHANNELS = ['worker_threads', 'child_process'] as const;
/** The frames of a pool and of the application that calls it. */
const MAX_FRAMES = 16;

type Frames = readonly StackFrame[];

/** By the port that `worker.on('message')` listens to. */
let byPort = new WeakMap<object, Frames>();
/** Its parent may send messages. Read once: an application may replace `process`. */
let isForked = false;
/** What has started all worker threads, or all forked processes; `many`: more than one file has. */
let only: Partial<Record<(typeof CHANNELS)[number], Frames | 'many'>> = {};

/**
 * What a message comes from that is received by the running resource; undefined if not known. May
 * be called inside a stack sample.
 */
export function senderOf(resource: object | undefined): Frames | undefined {
  if (resource === undefined || types.isProxy(resource)) return undefined;
  const isPort = attempt(() => resource instanceof MessagePort) === true;
  // Whoever has started this thread or process may send messages, too.
  const isFromAbove = isPort ? resource === parentPort : isForked;
  if (isFromAbove) return undefined;
  // The ports that a pool makes itself are of no worker.
  const one = only[isPort ? 'worker_threads' : 'child_process'];
  return byPort.get(resource) ?? (one === 'many' ? undefined : one);
}

export const messageSenders = {
  start(): void {
    isForked = process.channel !== undefined;
    for (const channel of CHANNELS) subscribe(channel, listeners[channel]);
  },

  stop(): void {
    for (const channel of CHANNELS) unsubscribe(channel, listeners[channel]);
    byPort = new WeakMap();
    only = {};
  },
};

const listeners = {
  worker_threads(message: unknown): void {
    attempt(() => {
      const starter = starterOf('worker_threads');
      const port = publicPortOf((message as { worker: object }).worker);
      if (starter !== undefined && port !== undefined) byPort.set(port, starter);
    });
  },

  child_process(): void {
    attempt(() => starterOf('child_process'));
  },
};

function starterOf(channel: (typeof CHANNELS)[number]): Frames | undefined {
  const frames = captureStack();
  const stack = frames.slice(frames.findIndex(({ file }) => file === 'node:diagnostics_channel'));
  // Only a forked process sends messages.
  if (channel === 'child_process' && !stack.some(isFork)) return undefined;
  const first = stack.findIndex(({ file }) => file !== undefined && !isNodeFile(file));
  if (first === -1 || stack[first]?.isOwn) return undefined;
  const starter = stack.slice(first, first + MAX_FRAMES).map(asCaller);
  const known = only[channel];
  const isOne = known === undefined || (known !== 'many' && known[0]?.file === starter[0]?.file);
  only[channel] = isOne ? starter : 'many';
  return starter;
}

const isFork = ({ functionName, file }: StackFrame) =>
  file === 'node:child_process' && functionName?.endsWith('fork') === true;

const asCaller = (frame: StackFrame): StackFrame => ({
  ...frame,
  isAsync: true,
  text: `async ${frame.text}`,
});

function publicPortOf(worker: object): object | undefined {
  const key = Object.getOwnPropertySymbols(worker).find(
    ({ description }) => description === 'kPublicPort',
  );
  return key && (worker as Record<symbol, object>)[key];
}
