// Mercurius: GraphQL with loaders, hooks and a REST route beside it.
const query =
  (/** @type {string} */ text, /** @type {any} */ variables = undefined) =>
  (/** @type {import('../support/client.mjs').Client} */ client) =>
    client.get('/graphql', { json: { query: text, variables } });

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'Mercurius',
  args: () => ['server.js'],
  ready: '/health',
  cases: [
    {
      name: 'resolver that sorts and groups',
      ask: query('{ statistics { customer count total } }'),
      right: { file: 'resolvers.js', in: ['statistics('] },
    },
    {
      name: 'field resolver that renders Markdown, for each row',
      ask: query('{ articles(first: 150) { title html } }'),
      right: { file: 'resolvers.js', in: ['html('] },
    },
    {
      name: 'big result: execution and serialization',
      ask: query('{ orders(first: 6000) { id customer total lines { sku quantity price } } }'),
      right: { packages: ['mercurius', 'graphql', 'fastify'] },
    },
    {
      name: 'big query: parse and validation',
      ask: query(
        `{ ${Array.from({ length: 1200 }, (_, i) => `a${i}: orders(first: 1) { id customer total }`).join(' ')} }`,
      ),
      right: { packages: ['mercurius', 'graphql'] },
    },
    {
      name: 'loader that joins in memory',
      ask: query('{ articles(first: 1500) { title related { title } } }'),
      right: { file: 'resolvers.js', in: ['async related('] },
    },
    {
      name: 'async resolver after I/O',
      ask: query('{ search(text: "articel abuot ordrs") { title } }'),
      right: { file: 'search.js', in: ['function distance(', 'function search('] },
    },
    {
      name: 'regular expression in a mutation',
      ask: query('mutation ($text: String!) { tag(text: $text) }', {
        text: `${'the quick brown fox, '.repeat(140000)}`,
      }),
      right: { file: 'resolvers.js', in: ['tag('] },
    },
    {
      name: 'preExecution hook: cost of the query',
      ask: query(
        `query Costly { ${Array.from({ length: 150 }, (_, i) => `a${i}: articles(first: 1) { title }`).join(' ')} }`,
      ),
      right: [{ file: 'server.js', in: ["addHook('preExecution'"] }, { file: 'cost.js' }],
    },
    {
      name: 'REST route: cloneDeep and merge',
      ask: (client) => client.get('/export'),
      right: { file: 'server.js', in: ["app.get('/export'"] },
    },
  ],
};
