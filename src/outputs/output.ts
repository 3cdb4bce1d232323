/**
 * The interface of an output: a function that starts with a session if the options ask for it. What
 * it tells comes by the public channels. `outputs.ts` lists them: without its lines there, the
 * folder of an output can be deleted (`npm run check -- outputs` does it).
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ResolvedConfig } from '../config.ts';
import type { SharedMemory } from '../core/sample/shared-memory.ts';
import type { OnceLogger } from '../otel/diag-once.ts';
import { attempt } from '../support/guard.ts';
import type { Schedstat } from '../support/schedstat.ts';

/** @returns undefined if the options do not ask for it */
export type Output = (session: OutputSession) => RunningOutput | undefined;

export interface OutputSession {
  readonly config: ResolvedConfig;
  readonly log: OnceLogger;
  /** Publishes all that is known now, the running callback included. Never throws. */
  settle(): void;
  readonly loop: LoopProbe;
}

/**
 * For the health server, whose thread judges the event loop while the main thread is blocked and
 * cannot publish anything: the memory that it reads then, and the beats between blocks.
 */
export interface LoopProbe {
  /** Shared with the watchdog thread; undefined if stack samples cannot be taken. */
  readonly watchdog: SharedMemory | undefined;
  /** What the kernel counts of this thread, as of the latest beat: to read it takes 4 to 10 µs. */
  readonly times: Pick<Schedstat, 'ran' | 'waited'>;
  /**
   * The lag timer is armed: as long as the loop turns, the next beat comes at `due`. Hot, 50 times
   * a second. There is one listener.
   */
  onArmed(listener: ((due: number) => void) | undefined): void;
}

export interface RunningOutput {
  stop(): void;
  /** The process ends by a signal, without an `exit` event. */
  endBySignal?(): void;
}

/**
 * Subscribes to a channel. What a subscriber throws would be an uncaught exception: `failed` is
 * given it.
 * @returns the function that unsubscribes
 */
export function follow<Message>(
  channel: string,
  listener: (message: Message) => void,
  failed?: (error: unknown) => void,
): () => void {
  const onMessage = (message: unknown) => void attempt(() => listener(message as Message), failed);
  subscribe(channel, onMessage);
  return () => void unsubscribe(channel, onMessage);
}
