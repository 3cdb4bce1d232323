// Astro with its Node.js adapter, standalone.
const page =
  (/** @type {string} */ path) => (/** @type {import('../support/client.mjs').Client} */ client) =>
    client.get(path);

/**
 * The first request of a page loads it: the line that imports it is named.
 * @returns {import('../support/launch.mjs').Label}
 */
const importOf = (/** @type {string} */ name) => ({
  file: 'dist/server/entry.mjs',
  in: [`import('./pages/${name}.astro.mjs')`],
});

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'Astro',
  preload: '--import',
  build: [['node_modules/astro/astro.js', 'build']],
  args: () => ['dist/server/entry.mjs'],
  env: () => ({ ASTRO_TELEMETRY_DISABLED: '1' }),
  ready: '/api/health',
  cases: [
    {
      name: 'Markdown in the frontmatter of a page',
      ask: page('/articles/7'),
      right: { file: 'src/lib/articles.js', in: ['export function render'] },
    },
    {
      name: 'component for each row',
      ask: page('/prices'),
      right: { file: 'src/lib/prices.js', in: ['export function format'] },
    },
    {
      name: 'page of very many elements',
      ask: page('/table'),
      right: [{ file: 'src/pages/table.astro' }, { packages: ['astro'] }],
    },
    {
      name: 'fuzzy search in an endpoint',
      ask: page('/api/search?q=articel%2077'),
      right: { file: 'src/lib/search.js', in: ['export function search'] },
    },
    {
      name: 'sitemap in an endpoint',
      ask: page('/api/sitemap.xml'),
      right: { file: 'src/pages/api/sitemap.xml.js', in: ['export async function GET'] },
    },
    {
      name: 'middleware that rewrites the page',
      ask: page('/links'),
      right: { file: 'src/middleware.js', in: ['export const onRequest'] },
    },
    {
      name: 'form in an endpoint',
      ask: (client) =>
        client.get('/api/import', {
          json: Array.from({ length: 40000 }, (_, i) => ({ id: i, name: `n${i % 300}` })),
        }),
      right: [
        { file: 'src/pages/api/import.js', in: ['export async function POST'] },
        importOf('api/import'),
      ],
    },
    {
      name: 'code highlighted after await',
      ask: page('/source'),
      right: [
        { file: 'src/lib/source.js', in: ['export async function highlight'] },
        { packages: ['shiki', 'astro'] },
        importOf('source'),
      ],
    },
  ],
};
