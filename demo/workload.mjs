// How large a request must be to hold the loop for a few hundred milliseconds on this machine: measured, not guessed.
import { send } from './load.mjs';

const BLOCK_MILLIS = 300;
const BODY_MILLIS = 300; // for a whole request, most of which is the parsing
const LARGEST = { steps: 5_000, rows: 60_000, orders: 500_000 };

/** A JSON array of `howMany` orders, about 180 bytes each. */
export function ordersBody(howMany) {
  const orders = Array.from({ length: howMany }, (_, i) => ({
    id: `order-${i}`,
    customer: { id: i % 997, name: `customer ${i % 997}`, tags: ['new', 'b2c', `region-${i % 12}`] },
    lines: [{ sku: `sku-${i % 211}`, quantity: (i % 7) + 1, price: 9.99 + (i % 100) }],
    paid: i % 3 === 0,
  }));
  return Buffer.from(JSON.stringify(orders));
}

/**
 * The request of an endpoint for an amount of work.
 * @param {string} origin
 * @param {import('./endpoints.mjs').Endpoint} endpoint
 * @param {number} size
 */
export function requestFor(origin, { path, method, work }, size) {
  if (work === 'orders') return { url: `${origin}${path}`, method, body: ordersBody(size) };
  return { url: `${origin}${path}?${work}=${size}`, method };
}

/** The shortest of a few runs of a request, in milliseconds; the first ones also warm the service up. */
async function shortest(runs, request) {
  let best = Infinity;
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    await send(request);
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

/**
 * @param {string} origin
 * @param {import('./endpoints.mjs').Endpoint[]} endpoints one of each kind of work is enough
 * @returns {Promise<{ steps: number, rows: number, orders: number }>}
 */
export async function measureSizes(origin, endpoints) {
  const run = (work, runs, size) => {
    const endpoint = endpoints.find((candidate) => candidate.work === work);
    return shortest(runs, requestFor(origin, endpoint, size));
  };
  const steps = (50 * BLOCK_MILLIS) / (await run('steps', 5, 50));
  const rows = 6_000 * Math.sqrt(BLOCK_MILLIS / (await run('rows', 5, 6_000))); // the work grows with the square
  const orders = (20_000 * BODY_MILLIS) / (await run('orders', 5, 20_000));
  return {
    steps: Math.min(Math.round(steps), LARGEST.steps),
    rows: Math.min(Math.round(rows), LARGEST.rows),
    orders: Math.min(Math.round(orders), LARGEST.orders),
  };
}
