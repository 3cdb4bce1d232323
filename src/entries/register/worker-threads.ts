/** Worker threads under `/register`: left alone unless the environment asks for them. */
import { randomUUID } from 'node:crypto';
import { isMainThread } from 'node:worker_threads';

const WANTED = 'OTEL_INSTRUMENTATION_EVENT_LOOP_WORKERS';
const RESOURCE_ATTRIBUTES = 'OTEL_RESOURCE_ATTRIBUTES';
const INSTANCE_ID = 'service.instance.id';

/** Whether this thread is to have an SDK. */
export function isThreadWanted(
  env: NodeJS.ProcessEnv = process.env,
  isMain = isMainThread,
): boolean {
  return isMain || env[WANTED]?.trim().toLowerCase() === 'true';
}

/**
 * Runs `start`, which reads the environment, so that a worker thread has an id of its own as an
 * instance of the service: series of metrics of two threads under one id would be mixed up.
 */
export function withOwnInstanceId<Result>(
  start: () => Result,
  env: NodeJS.ProcessEnv = process.env,
  isMain = isMainThread,
): Result {
  if (isMain) return start();
  const before = env[RESOURCE_ATTRIBUTES];
  const others = (before ?? '')
    .split(',')
    .filter((pair) => pair.trim() !== '' && pair.split('=')[0]?.trim() !== INSTANCE_ID);
  env[RESOURCE_ATTRIBUTES] = [...others, `${INSTANCE_ID}=${randomUUID()}`].join(',');
  try {
    return start();
  } finally {
    // The environment may be that of the process (`SHARE_ENV`).
    if (before === undefined) delete env[RESOURCE_ATTRIBUTES];
    else env[RESOURCE_ATTRIBUTES] = before;
  }
}
