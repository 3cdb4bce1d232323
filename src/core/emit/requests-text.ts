/** What a pile-up of requests is made of, in words: for lines, and for the page in a browser. */
import { percent } from '../../support/numbers.ts';
import type { EventLoopBlock } from '../../types.ts';

/** `at least 3 requests of GET /posts (92 %)`; spans of no request: `at least 3 times resize …`. */
export function requestsText(requests: NonNullable<EventLoopBlock['requests']>): string {
  const { operation, count, share } = requests;
  const what = /^[A-Z]+ \//.test(operation) ? 'requests of' : 'times';
  return `at least ${count} ${what} ${operation} (${percent(share)})`;
}
