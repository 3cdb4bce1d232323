// Guarantees: the endpoints of the demo service that get load, in the order of the report; what
// each of them does, and what must be reported of its blocks.

/**
 * @typedef {object} Endpoint
 * @property {string} path
 * @property {'GET' | 'POST'} method
 * @property {'steps' | 'rows' | 'orders'} work what the size of a request is counted in
 * @property {BlockingFunction} [blocking] what blocks the event loop, if it does: then there must
 *   be an `event-loop-blocked` span that names it
 * @property {boolean} [inWorkerThread] what it blocks is a worker thread: no other request has to
 *   wait
 * @property {string} does
 *
 * @typedef {object} BlockingFunction
 * @property {string} [functionName] any, if it has none of its own
 * @property {string} file a part of its path
 */

const SERVICE = 'demo/service.cjs';
const HASHING = { functionName: 'hashRandomStrings', file: SERVICE };
/**
 * Not its `parse`, which ends with `return JSON.parse(body)`: named is the anonymous function that
 * called that.
 */
const BODY_PARSER = { file: 'body-parser/lib/' };

/** @returns {Endpoint} */
const compute = (
  /** @type {string} */ way,
  /** @type {string} */ does,
  /** @type {BlockingFunction | undefined} */ blocking = undefined,
) => ({
  path: `/compute-${way}`,
  method: 'GET',
  work: 'steps',
  ...(blocking && { blocking }),
  does,
});

/** @type {Endpoint[]} */
const ENDPOINTS = [
  compute('sync', 'hashes in one loop', HASHING),
  compute('async', 'awaits every step', HASHING),
  compute('with-next-tick', 'process.nextTick between steps', HASHING),
  compute('with-set-immediate', 'setImmediate between steps'),
  compute('with-set-timeout', 'setTimeout between steps'),
  {
    path: '/nested-loop',
    method: 'GET',
    work: 'rows',
    blocking: { functionName: 'buildSpans', file: SERVICE },
    does: 'a find for every row',
  },
  {
    path: '/big-json',
    method: 'POST',
    work: 'orders',
    blocking: BODY_PARSER,
    does: 'parses a huge body',
  },
];

/**
 * The main thread has nothing to do meanwhile.
 * @type {Endpoint}
 */
const WORKER_ENDPOINT = {
  path: '/report',
  method: 'GET',
  work: 'rows',
  blocking: { functionName: 'renderReport', file: 'demo/report-thread.cjs' },
  inWorkerThread: true,
  does: 'the same loop in a worker thread',
};

module.exports = { ENDPOINTS, WORKER_ENDPOINT };
