import type { FunctionWait, RequestMessage } from '../../../src/channels.ts';

/** A request that has waited for nothing, unless `more` says so. */
export const requestMessage = (more: Partial<RequestMessage>): RequestMessage => ({
  route: 'GET /list',
  traceId: '0'.repeat(32),
  startTimeMillis: 0,
  durationMillis: 0,
  stalledMillis: 0,
  queuedMillis: 0,
  functions: [],
  waits: () => [],
  ...more,
});

export const functionWait = (more: Partial<FunctionWait>): FunctionWait => ({
  key: more.code?.functionName ?? '',
  stalledMillis: 0,
  queuedMillis: 0,
  ...more,
});
