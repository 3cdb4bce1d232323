// Apollo Server 5 in Express 5, with DataLoader, a plugin and scalars of its own.
const query =
  (/** @type {string} */ text, /** @type {any} */ variables = undefined) =>
  (/** @type {import('../support/client.mjs').Client} */ client) =>
    client.get('/graphql', {
      json: { query: text, variables },
      headers: text.includes('customers') ? {} : { authorization: 'Bearer owner' },
    });

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'Apollo Server in Express 5',
  args: () => ['src/server.js'],
  ready: '/health',
  cases: [
    {
      name: 'batch function of a DataLoader that joins in memory',
      ask: query('{ products(first: 600) { id reviews { text } } }'),
      right: { file: 'src/loaders.js', in: ['async function reviewsOf'] },
    },
    {
      name: 'async field resolver with Ramda, for each row',
      ask: query('{ products(first: 700) { id rating } }'),
      right: { file: 'src/resolvers.js', in: ['rating: async'] },
    },
    {
      name: 'big result: execution and JSON',
      ask: query('{ products(first: 9000) { id name price tags } }'),
      right: { packages: ['@apollo/server', '@as-integrations/express5', 'graphql', 'express'] },
    },
    {
      name: 'big query: parse and validation',
      ask: query(
        `{ ${Array.from({ length: 900 }, (_, i) => `p${i}: product(id: "${i}") { id name }`).join(' ')} }`,
      ),
      right: { packages: ['@apollo/server', 'graphql'] },
    },
    {
      name: 'scalar of our own, formatted by date-fns',
      ask: query('{ products(first: 6000) { createdAt } }'),
      right: { file: 'src/scalars.js', in: ['serialize('] },
    },
    {
      name: 'plugin that masks the response',
      ask: query('{ customers(first: 2500) { notes } }'),
      right: { file: 'src/plugins/mask.js' },
    },
    {
      name: 'context function that resolves permissions',
      ask: (client) =>
        client.get('/graphql', {
          json: { query: '{ me { permissions } }' },
          headers: { 'x-roles': 'admin,editor' },
        }),
      right: { file: 'src/context.js' },
    },
    {
      name: 'fuse.js search after await of a cache',
      ask: query('{ search(text: "prodct nmber 77") { id } }'),
      right: { file: 'src/search.js' },
    },
    {
      name: 'mutation with big variables, checked by hand',
      ask: query('mutation ($items: [ItemInput!]!) { importItems(items: $items) }', {
        items: Array.from({ length: 2200 }, (_, i) => ({ sku: `SKU-${i % 2100}`, price: i / 3 })),
      }),
      right: { file: 'src/resolvers.js', in: ['importItems('] },
    },
  ],
};
