/**
 * The interface of an output: a function that starts with a session if the options ask for it. What
 * it tells comes by the public channels. `outputs.ts` lists them: without its lines there, the
 * folder of an output can be deleted (`npm run check -- outputs` does it).
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ResolvedConfig } from './config.ts';
import type { OnceLogger } from './otel/diag-once.ts';
import { attempt } from './support/guard.ts';

/** @returns undefined if the options do not ask for it */
export type Output = (session: OutputSession) => RunningOutput | undefined;

export interface OutputSession {
  readonly config: ResolvedConfig;
  readonly log: OnceLogger;
  /** Publishes all that is known now, the running callback included. Never throws. */
  settle(): void;
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
