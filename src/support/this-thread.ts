/** The thread that runs this, as spans and events have it. */
import * as workerThreads from 'node:worker_threads';
import { isMainThread, threadId } from 'node:worker_threads';
import { boundedName } from './bounded.ts';

// `threadName` came with Node.js 22.20 and 24.6: it cannot be imported by name before.
const { threadName } = workerThreads as { threadName?: string };
/** Node.js 24 and later name a worker so that was given no name. */
const UNNAMED = 'WorkerThread';

function nameOfThisThread(): string {
  if (isMainThread) return 'main';
  return threadName && threadName !== UNNAMED ? boundedName(threadName) : `worker-${threadId}`;
}

export const THIS_THREAD = { id: threadId, name: nameOfThisThread() } as const;
