/**
 * What runs on the main thread for the watchdog of worker threads, if that has not loaded this
 * package: the code is evaluated there, by an inspector session. It runs inside what the main
 * thread runs, so it has no regular expression. Afterwards nothing is left there but the words in
 * {@link KEY}, and the watchdog thread.
 */
import { BroadcastChannel } from 'node:worker_threads';
import type { MainThreadRequest, WorkerMessage } from './main-thread.ts';
import { sharedWords, startSharedThread } from './start-shared-thread.ts';

/** A parameter of the function around this code. */
declare const request: MainThreadRequest;

const words = sharedWords();
startSharedThread(words, request.code, request.env);
const channel = new BroadcastChannel(request.channelName);
channel.postMessage({ type: 'words', words } satisfies WorkerMessage);
channel.close();
