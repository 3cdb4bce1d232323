/**
 * The exit of the main thread while the watchdog thread of a worker has a session to it: Node.js
 * would print "Waiting for the debugger to disconnect". The main thread need not have loaded this
 * package, so with the first session a listener for its exit is evaluated there; it waits, for
 * 100 ms at most, until the sessions are closed. Watchdog thread only.
 */
import { randomUUID } from 'node:crypto';
import type { Session } from 'node:inspector';
import { BroadcastChannel, getEnvironmentData, receiveMessageOnPort } from 'node:worker_threads';
import { attempt } from '../support/guard.ts';

/** The flags on the main thread; and, for workers that are started later, in what they inherit. */
const KEY = 'opentelemetry-instrumentation-event-loop.main-exit.v1';

/** Index in the flags, one pair for the process. */
const Flag = {
  /** How many sessions are open, or about to be. */
  open: 0,
  /** 1 from when the main thread exits: no session may be opened then. */
  closing: 1,
} as const;

/**
 * Returns whether a debugger can be attached. Where a channel is named, the flags are sent by it,
 * and the session that asks counts as open. Runs inside what the main thread runs: no regular
 * expression in it.
 */
const ON_MAIN_THREAD = `(channelName) => {
  'use strict';
  const load = (id) => process.getBuiltinModule(id);
  if (channelName !== undefined) {
    const key = Symbol.for('${KEY}');
    let flags = globalThis[key];
    if (flags === undefined) {
      flags = new Int32Array(new SharedArrayBuffer(8));
      Object.defineProperty(globalThis, key, { value: flags });
      load('node:worker_threads').setEnvironmentData('${KEY}', flags);
      process.on('exit', () => {
        Atomics.store(flags, ${Flag.closing}, 1);
        for (let open; (open = Atomics.load(flags, ${Flag.open})) > 0; )
          if (Atomics.wait(flags, ${Flag.open}, open, 100) === 'timed-out') break;
        const handleInterrupts = (n) => n + 1;
        for (let n = 0; n < 100; ) n = handleInterrupts(n);
      });
    }
    const { BroadcastChannel } = load('node:worker_threads');
    const channel = new BroadcastChannel(channelName);
    Atomics.add(flags, ${Flag.open}, 1);
    channel.postMessage(flags);
    channel.close();
  }
  return load('node:inspector').url() !== undefined;
}`;

export class MainExit {
  #flags = getEnvironmentData(KEY) as Int32Array | undefined;
  #channel: BroadcastChannel | undefined;
  #channelName: string | undefined;

  /** To be called before a session is opened. False where none may be. */
  enter(): boolean {
    this.#receive();
    if (this.#flags === undefined) return true;
    Atomics.add(this.#flags, Flag.open, 1);
    if (!this.isClosing) return true;
    this.leave();
    return false;
  }

  get isClosing(): boolean {
    return this.#flags !== undefined && Atomics.load(this.#flags, Flag.closing) === 1;
  }

  /** To be posted first. Calls back with whether a debugger can be attached to the process. */
  join(session: Session, onInspected: (isInspected: boolean) => void): void {
    if (this.#flags === undefined && this.#channel === undefined) this.#openChannel();
    const argument = this.#flags === undefined ? JSON.stringify(this.#channelName) : '';
    session.post(
      'Runtime.evaluate',
      { expression: `(${ON_MAIN_THREAD})(${argument})`, returnByValue: true, silent: true },
      (error, response) => {
        if (error) return;
        this.#receive();
        onInspected(response?.result?.value === true);
      },
    );
  }

  /** To be called when the session is closed. */
  leave(): void {
    this.#receive();
    if (this.#flags === undefined) return;
    Atomics.sub(this.#flags, Flag.open, 1);
    Atomics.notify(this.#flags, Flag.open);
  }

  #openChannel(): void {
    this.#channelName = `opentelemetry-instrumentation-event-loop.${randomUUID()}`;
    this.#channel = new BroadcastChannel(this.#channelName);
    this.#channel.unref();
  }

  /** The flags have been sent before the main thread's answer. */
  #receive(): void {
    const channel = this.#channel;
    if (channel === undefined) return;
    const received = attempt(() => receiveMessageOnPort(channel as never));
    if (received === undefined) return;
    this.#flags = received.message as Int32Array;
    this.#channel = undefined;
    attempt(() => channel.close());
  }
}
