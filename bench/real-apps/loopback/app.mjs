// LoopBack 4 with its memory connector: models, relations, interceptors, services.
const filter = (/** @type {object} */ value) =>
  `/orders?filter=${encodeURIComponent(JSON.stringify(value))}`;
const orders = (/** @type {number} */ count) =>
  Array.from({ length: count }, (_, i) => ({ customer: `C ${i}`, note: 'a note', total: i }));
const HYDRATES = ['@loopback/repository', 'loopback-datasource-juggler', 'loopback-connector'];

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'LoopBack 4',
  build: [['node_modules/typescript/bin/tsc', '-p', '.', '--noCheck']],
  args: () => ['dist/index.js'],
  ready: '/health',
  cases: [
    {
      name: 'list of models, 4 at once',
      ask: (client) => client.together(4, filter({ limit: 1500 })),
      right: { packages: HYDRATES },
    },
    {
      name: 'short lists, 20 at once',
      ask: (client) => client.together(20, filter({ limit: 300 })),
      right: { packages: HYDRATES },
    },
    {
      name: 'list with a relation, 4 at once',
      ask: (client) => client.together(4, filter({ limit: 400, include: ['lines'] })),
      right: { packages: HYDRATES },
    },
    {
      name: 'filter with a pattern, among 19 others',
      ask: (client) =>
        client.among(19, '/health', filter({ where: { note: { regexp: '/(note? .*)+x$/i' } } })),
      // The connector runs below the controller.
      right: [{ packages: HYDRATES }, { file: 'src/controllers/order.controller.ts' }],
    },
    {
      name: 'validation of a large body, 4 at once',
      ask: (client) => client.together(4, '/imports', { json: orders(15000) }),
      // Express' parser reads it first.
      right: { packages: ['@loopback/rest', 'body-parser'] },
    },
    {
      name: 'report of a controller, 4 at once',
      ask: (client) => client.together(4, '/reports/customers'),
      right: { file: 'src/controllers/report.controller.ts', in: ['async customers('] },
    },
    {
      name: 'quadratic service, among 19 others',
      ask: (client) => client.among(19, '/health', '/reports/pairs'),
      right: { file: 'src/services/match.service.ts', in: ['async pairs('] },
    },
    {
      name: 'interceptor after next(), 4 at once',
      ask: (client) => client.together(4, '/orders/checked'),
      right: { file: 'src/interceptors/checksum.interceptor.ts', in: ['function checksumOf'] },
    },
    {
      name: 'toJSON of a model, 6 at once',
      ask: (client) => client.together(6, '/receipts'),
      right: { file: 'src/models.ts', in: ['toJSON('] },
    },
    {
      name: 'queue with a timer, 5 at once',
      ask: async (client) => {
        await client.together(5, '/index', { method: 'POST' });
        await new Promise((resolve) => setTimeout(resolve, 1500));
      },
      right: { file: 'src/services/index.service.ts' },
    },
  ],
};
