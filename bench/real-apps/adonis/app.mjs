// AdonisJS 6 with Lucid, Edge and Vine, and SQLite: an application in TypeScript.
const rows = (/** @type {number} */ count) => ({
  rows: Array.from({ length: count }, (_, i) => ({
    customer: ` Customer ${i}`,
    email: `person${i}@example.com`,
    total: i,
  })),
});

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'AdonisJS',
  build: [['node_modules/typescript/bin/tsc', '-p', '.', '--noCheck']],
  args: () => ['build/bin/server.js'],
  preload: '--import',
  env: ({ data }) => ({ DATABASE: `${data}/orders.db`, APP_KEY: 'x'.repeat(32) }),
  ready: '/health',
  cases: [
    {
      name: 'list of models, 4 at once',
      ask: (client) => client.together(4, '/orders?limit=1500'),
      right: { packages: ['@adonisjs/lucid'] },
    },
    {
      name: 'short lists, 20 at once',
      ask: (client) => client.together(20, '/orders?limit=200'),
      right: { packages: ['@adonisjs/lucid'] },
    },
    {
      name: 'list with a relation, among 19 others',
      ask: (client) => client.among(19, '/health', '/orders?limit=800&lines=1'),
      right: { packages: ['@adonisjs/lucid'] },
    },
    {
      name: 'Edge page of a large list, 6 at once',
      ask: (client) => client.together(6, '/orders/page'),
      right: { packages: ['edge.js'] },
    },
    {
      name: 'Edge page with a slow helper, among 19 others',
      ask: (client) => client.among(19, '/health', '/orders/labels'),
      right: { file: 'app/controllers/orders.ts', in: ['function barcode'] },
    },
    {
      name: 'Vine validates a large body, 4 at once',
      ask: (client) => client.together(4, '/imports', { json: rows(8000) }),
      right: [
        { file: 'app/controllers/orders.ts', in: ['async import('] },
        { packages: ['@vinejs/vine'] },
      ],
    },
    {
      name: 'report of a controller, 4 at once',
      ask: (client) => client.together(4, '/reports/customers'),
      right: { file: 'app/controllers/orders.ts', in: ['async customers('] },
    },
    {
      name: 'quadratic service, among 19 others',
      ask: (client) => client.among(19, '/health', '/reports/pairs'),
      right: { file: 'app/services/pairs.ts' },
    },
    {
      name: 'middleware after next(), 4 at once',
      ask: (client) => client.together(4, '/orders/checked?limit=1500'),
      right: { file: 'app/middleware/checksum.ts', in: ['function checksumOf'] },
    },
    {
      name: 'event listener, 4 at once',
      ask: (client) => client.together(4, '/paid', { method: 'POST' }),
      right: { file: 'app/services/statements.ts' },
    },
    {
      name: 'queue with a timer, 5 at once',
      ask: async (client) => {
        await client.together(5, '/index', { method: 'POST' });
        await new Promise((resolve) => setTimeout(resolve, 1500));
      },
      right: { file: 'app/services/search.ts' },
    },
  ],
};
