// Guarantees: how large a request must be to block the event loop for a few hundred milliseconds on
// this machine: measured, not guessed.
const { sendOk } = require('../http-client.cjs');

/** @import { Endpoint } from './endpoints.cjs' */

const BLOCK_MILLIS = 300;
const BODY_MILLIS = 300; // for a whole request, most of which is the parsing
const LARGEST = { steps: 5_000, rows: 60_000, orders: 500_000 };

/** @typedef {{ url: string, method: string, body?: Buffer }} Request */

/** A JSON array of `howMany` orders, about 180 bytes each. */
function ordersBody(/** @type {number} */ howMany) {
  const orders = Array.from({ length: howMany }, (_, i) => ({
    id: `order-${i}`,
    customer: {
      id: i % 997,
      name: `customer ${i % 997}`,
      tags: ['new', 'b2c', `region-${i % 12}`],
    },
    lines: [{ sku: `sku-${i % 211}`, quantity: (i % 7) + 1, price: 9.99 + (i % 100) }],
    paid: i % 3 === 0,
  }));
  return Buffer.from(JSON.stringify(orders));
}

/**
 * The request of an endpoint for an amount of work.
 * @param {string} origin
 * @param {Endpoint} endpoint
 * @param {number} size
 * @returns {Request}
 */
function requestFor(origin, { path, method, work }, size) {
  if (work === 'orders') return { url: `${origin}${path}`, method, body: ordersBody(size) };
  return { url: `${origin}${path}?${work}=${size}`, method };
}

/**
 * The shortest of a few runs of a request, in milliseconds; the first ones also warm the service
 * up.
 * @param {number} runs
 * @param {Request} request
 */
async function shortest(runs, { url, ...options }) {
  let best = Infinity;
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    await sendOk(url, options);
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

/**
 * @param {string} origin
 * @param {Endpoint[]} endpoints one of each kind of work is enough
 * @returns {Promise<Record<Endpoint['work'], number>>}
 */
async function measureSizes(origin, endpoints) {
  const run = (
    /** @type {Endpoint['work']} */ work,
    /** @type {number} */ runs,
    /** @type {number} */ size,
  ) => {
    const endpoint = endpoints.find((candidate) => candidate.work === work);
    if (endpoint === undefined) throw new Error(`no endpoint whose work is counted in ${work}`);
    return shortest(runs, requestFor(origin, endpoint, size));
  };
  const steps = (50 * BLOCK_MILLIS) / (await run('steps', 5, 50));
  // the work grows with the square
  const rows = 6_000 * Math.sqrt(BLOCK_MILLIS / (await run('rows', 5, 6_000)));
  const orders = (20_000 * BODY_MILLIS) / (await run('orders', 5, 20_000));
  return {
    steps: Math.min(Math.round(steps), LARGEST.steps),
    rows: Math.min(Math.round(rows), LARGEST.rows),
    orders: Math.min(Math.round(orders), LARGEST.orders),
  };
}

module.exports = { measureSizes, ordersBody, requestFor };
