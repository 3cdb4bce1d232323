// The endpoints that get load, in the order of the report, what each of them does in a person's words, and what has to be told
// of the block.

/**
 * @typedef {object} Endpoint
 * @property {string} path
 * @property {'GET' | 'POST'} method
 * @property {'steps' | 'rows' | 'orders'} work what the size of a request is counted in
 * @property {Culprit | undefined} culprit what holds the loop, if it does: then the report must find an `event-loop-blocked` span
 *   that names it
 * @property {string} does
 *
 * @typedef {object} Culprit
 * @property {string} [functionName] any, where it is not told
 * @property {string} file a part of its path
 */

const SERVICE = 'demo/service.cjs';
const HASHING = { functionName: 'hashRandomStrings', file: SERVICE };
/** Not its `parse` function, whose last deed is `return JSON.parse(body)`: told is what called that, an anonymous function. */
const BODY_PARSER = { file: 'body-parser/lib/' };

/** @type {Endpoint[]} */
export const ENDPOINTS = [
  { path: '/compute-sync', method: 'GET', work: 'steps', culprit: HASHING, does: 'hashes in one loop' },
  { path: '/compute-async', method: 'GET', work: 'steps', culprit: HASHING, does: 'awaits every step' },
  {
    path: '/compute-with-next-tick',
    method: 'GET',
    work: 'steps',
    culprit: HASHING,
    does: 'process.nextTick between steps',
  },
  {
    path: '/compute-with-set-immediate',
    method: 'GET',
    work: 'steps',
    does: 'setImmediate between steps',
  },
  {
    path: '/compute-with-set-timeout',
    method: 'GET',
    work: 'steps',
    does: 'setTimeout between steps',
  },
  {
    path: '/nested-loop',
    method: 'GET',
    work: 'rows',
    culprit: { functionName: 'buildSpans', file: SERVICE },
    does: 'a find for every row',
  },
  { path: '/big-json', method: 'POST', work: 'orders', culprit: BODY_PARSER, does: 'parses a huge body' },
];
