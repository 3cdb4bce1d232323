// Next.js: `next build`, minified as by default, with maps of the server, and `next start`.
const page =
  (/** @type {string} */ path) => (/** @type {import('../support/client.mjs').Client} */ client) =>
    client.get(path);

const args = (/** @type {{ port: number }} */ { port }) => [
  'node_modules/next/dist/bin/next',
  'start',
  '--hostname',
  '127.0.0.1',
  '--port',
  String(port),
];

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'Next.js',
  build: [['node_modules/next/dist/bin/next', 'build']],
  args,
  env: () => ({ NEXT_TELEMETRY_DISABLED: '1' }),
  consumers: [{ name: 'Next.js', args }],
  cases: [
    {
      name: 'Markdown in a page',
      ask: page('/articles/one'),
      varies: true,
      right: [
        { file: 'lib/articles.js', in: ['export function renderArticle'] },
        // The minifier puts it into the page.
        { file: 'app/articles/[slug]/page.jsx' },
      ],
    },
    {
      name: 'component of a table',
      ask: page('/table'),
      varies: true,
      right: [
        { file: 'lib/orders.js', in: ['export function priceOf'] },
        { file: 'app/table/page.jsx', in: ['function Row'] },
      ],
    },
    {
      name: 'bcryptjs in a route handler',
      ask: page('/api/login'),
      right: [
        { file: 'lib/accounts.js', in: ['export function checkPassword'] },
        { file: 'app/api/login/route.js' },
      ],
    },
    {
      name: 'quadratic report',
      ask: page('/api/report'),
      right: { file: 'lib/report.js', in: ['export function summarize'] },
    },
    {
      name: 'JSON.stringify',
      ask: page('/api/export'),
      right: { file: 'lib/orders.js', in: ['export function exportOrders', 'export const rows'] },
    },
    {
      name: 'cloneDeep after a timer',
      ask: page('/api/orders'),
      right: {
        file: 'lib/orders.js',
        in: ['export async function copyOrders', 'export const rows'],
      },
    },
    {
      name: 'highlight.js',
      ask: page('/api/highlight'),
      right: { file: 'lib/articles.js', in: ['export function highlightSource'] },
    },
    {
      name: 'graphql after await',
      ask: page('/api/lookup'),
      right: [{ file: 'lib/graph.js' }, { packages: ['graphql'] }],
    },
    {
      name: 'getServerSideProps',
      ask: page('/legacy'),
      varies: true,
      right: { file: 'lib/report.js', in: ['export function summarize'] },
    },
  ],
};
