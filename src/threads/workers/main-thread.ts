/** What the threads agree on that share one watchdog thread: see `main-thread.worker.ts`. */
import type { WatchdogMessage } from '../../core/sample/protocol.ts';
import { PACKAGE_NAME, PACKAGE_VERSION } from '../../version.ts';

/**
 * The words on the main thread, and in what workers that are started later inherit; the channel by
 * which a thread asks to be watched. Another version of the package has its own.
 */
export const KEY = `${PACKAGE_NAME}.${PACKAGE_VERSION}.workers`;

/** What a thread is sent by its channel; the words, if it had the code evaluated. */
export type WorkerMessage =
  | { readonly type: 'words'; readonly words: Int32Array }
  | WatchdogMessage;

/** What a thread that asks to be watched gives to the code on the main thread. */
export interface MainThreadRequest {
  /** Of the channel by which the words are sent to the thread. */
  readonly channelName: string;
  /** Of the watchdog thread. */
  readonly code: string;
  readonly env: Record<string, string>;
}
