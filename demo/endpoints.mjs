// The endpoints that get load, in the order of the report, and what each of them does in a person's words.

/**
 * @typedef {object} Endpoint
 * @property {string} path
 * @property {'GET' | 'POST'} method
 * @property {'steps' | 'rows' | 'orders'} work what the size of a request is counted in
 * @property {boolean} blocks whether it holds the loop: then the report must find its `event-loop-blocked` span
 * @property {string} does
 */

/** @type {Endpoint[]} */
export const ENDPOINTS = [
  { path: '/compute-sync', method: 'GET', work: 'steps', blocks: true, does: 'hashes in one loop' },
  { path: '/compute-async', method: 'GET', work: 'steps', blocks: true, does: 'awaits every step' },
  {
    path: '/compute-with-next-tick',
    method: 'GET',
    work: 'steps',
    blocks: true,
    does: 'process.nextTick between steps',
  },
  {
    path: '/compute-with-set-immediate',
    method: 'GET',
    work: 'steps',
    blocks: false,
    does: 'setImmediate between steps',
  },
  {
    path: '/compute-with-set-timeout',
    method: 'GET',
    work: 'steps',
    blocks: false,
    does: 'setTimeout between steps',
  },
  { path: '/nested-loop', method: 'GET', work: 'rows', blocks: true, does: 'a find for every row' },
  { path: '/big-json', method: 'POST', work: 'orders', blocks: true, does: 'parses a huge body' },
];
