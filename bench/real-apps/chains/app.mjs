// Promises that are all settled soon: caches, queues and cursors that never go back to the loop.
const prices = 'services/prices.js';
const rows = 'services/rows.js';

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'Fastify with caches, queues and loaders of promises',
  preload: '--import',
  args: () => ['server.js'],
  ready: '/health',
  cases: [
    {
      name: 'lru-cache, one await after the other',
      ask: (client) => client.get('/prices/cached'),
      right: { file: prices, in: ['export async function priceCached'] },
    },
    {
      name: 'keyv, one await after the other',
      ask: (client) => client.get('/prices/stored'),
      // Each entry is decoded on its own.
      right: [{ file: prices, in: ['export async function priceStored'] }, { packages: ['keyv'] }],
    },
    {
      name: 'Promise.all of small async functions',
      ask: (client) => client.get('/prices/all'),
      right: {
        file: prices,
        in: ['const totalOf', 'const viewOf', 'export async function priceAll'],
      },
    },
    {
      name: 'p-limit',
      ask: (client) => client.get('/rows/limited'),
      right: [{ file: rows }, { packages: ['p-limit'] }],
    },
    {
      name: 'p-map',
      ask: (client) => client.get('/rows/batches'),
      right: [{ file: rows }, { packages: ['p-map'] }],
    },
    {
      name: 'p-queue',
      ask: (client) => client.get('/rows/queued'),
      right: [{ file: rows }, { packages: ['p-queue', 'eventemitter3'] }],
    },
    {
      name: 'fastq, then async',
      ask: (client) => client.get('/rows/ordered'),
      right: [{ file: rows }, { packages: ['fastq', 'async'] }],
    },
    {
      name: 'dataloader in batches',
      ask: (client) => client.get('/users'),
      // The agent ends a span for each load, with nothing of the application on the stack.
      parent: false,
      right: [{ file: 'services/users.js' }, { packages: ['dataloader'] }],
    },
    {
      name: 'an async generator of pages',
      ask: (client) => client.get('/orders/export'),
      right: {
        file: 'services/orders.js',
        in: ['pages()', 'each()', 'export async function exportOrders'],
      },
    },
    {
      name: 'a recursive async check',
      ask: (client) => client.get('/orders/validate'),
      right: { file: 'services/orders.js', in: ['async function check'] },
    },
    {
      name: 'a stream of objects',
      ask: (client) => client.get('/orders/summary'),
      right: { file: 'services/streams.js' },
    },
  ],
};
