// SvelteKit with its Node.js adapter.
const page =
  (/** @type {string} */ path) => (/** @type {import('../support/client.mjs').Client} */ client) =>
    client.get(path);
const lines = Array.from(
  { length: 60000 },
  (_, i) => `Name ${i % 900} of somebody;  ${i / 7}; note`,
).join('\n');

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'SvelteKit',
  needsNode: 22,
  preload: '--import',
  build: [['node_modules/vite/bin/vite.js', 'build']],
  args: () => ['build/index.js'],
  env: ({ port }) => ({
    ORIGIN: `http://127.0.0.1:${port}`,
    BODY_SIZE_LIMIT: '32M',
    SHUTDOWN_TIMEOUT: '2',
  }),
  ready: '/api/health',
  cases: [
    {
      name: 'Markdown in a load function',
      ask: page('/articles/7'),
      varies: true,
      right: [{ file: 'src/lib/articles.js', in: ['export function renderArticle'] }],
    },
    {
      name: 'page of very many elements, and a hook',
      ask: page('/table'),
      varies: true,
      right: [
        { file: 'src/routes/table/+page.svelte' },
        { file: 'src/hooks.server.js', in: ['function addAnchors'] },
      ],
    },
    {
      name: 'work in a component',
      ask: page('/chart'),
      varies: true,
      right: [{ file: 'src/lib/statistics.js', in: ['export function smooth'] }],
    },
    {
      name: 'd3-array in an endpoint',
      ask: page('/api/report'),
      right: { file: 'src/lib/statistics.js', in: ['export function summarize'] },
    },
    {
      name: 'highlight.js, loaded on demand, after a timer',
      ask: page('/api/source'),
      right: { file: 'src/lib/source.js', in: ['export async function highlightAll'] },
    },
    {
      name: 'lines of a body',
      ask: (client) =>
        client.get('/api/import', {
          method: 'POST',
          body: lines,
          headers: { 'content-type': 'text/csv' },
        }),
      right: { file: 'src/routes/api/import/+server.js', in: ['export async function POST'] },
    },
    {
      name: 'data of a page, serialized by the framework',
      ask: page('/orders'),
      varies: true,
      right: [
        { packages: ['devalue', '@sveltejs/kit'] },
        { file: 'src/routes/orders/+page.server.js' },
      ],
    },
  ],
};
