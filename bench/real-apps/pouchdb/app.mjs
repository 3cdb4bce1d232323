// PouchDB in memory, behind Express.
/** Where the application awaits the database, nothing of it is on the stack. */
const POUCHDB = [
  'pouchdb-core',
  'pouchdb-adapter-memory',
  'pouchdb-mapreduce',
  'pouchdb-find',
  'pouchdb-replication',
  'pouchdb-adapter-leveldb-core',
  'memdown',
  'sublevel-pouchdb',
  'levelup',
  'readable-stream',
];

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'PouchDB',
  inNodeSdk: true,
  args: () => ['server.js'],
  ready: '/health',
  cases: [
    {
      name: 'documents made before bulkDocs, and written',
      ask: (client) => client.get('/orders/import', { json: { count: 900 } }),
      varies: true,
      right: [{ file: 'orders.js', in: ['exports.importOrders'] }, { packages: POUCHDB }],
    },
    {
      name: 'map function of a temporary view',
      ask: (client) => client.get('/orders/by-words'),
      right: [{ file: 'orders.js', in: ['function byWords'] }, { packages: POUCHDB }],
    },
    {
      name: 'allDocs and a sum after await',
      ask: (client) => client.get('/orders/summary'),
      right: [{ file: 'orders.js', in: ['exports.summarize', 'function summaryOf'] }],
    },
    {
      name: 'find with a selector',
      ask: (client) => client.get('/orders/find'),
      right: [{ file: 'orders.js', in: ['exports.find ='] }, { packages: POUCHDB }],
    },
    {
      name: 'filter of a replication',
      ask: (client) => client.get('/orders/replicate'),
      varies: true,
      right: [
        { file: 'orders.js', in: ['function isWanted', 'exports.replicate'] },
        { packages: POUCHDB },
      ],
    },
    {
      name: 'listener of changes',
      ask: async (client) => {
        await client.get('/orders/touch', { method: 'POST' });
        await new Promise((resolve) => setTimeout(resolve, 400));
      },
      varies: true,
      parent: false,
      right: { file: 'search-index.js', in: ['function reindex'] },
    },
    {
      name: 'JSON answer of Express',
      ask: (client) => client.get('/orders'),
      varies: true,
      right: [
        { file: 'server.js', in: ["app.get('/orders',"] },
        { packages: ['express', ...POUCHDB] },
      ],
    },
  ],
};
