// React Router as a framework, served by react-router-serve.
const page =
  (/** @type {string} */ path) => (/** @type {import('../support/client.mjs').Client} */ client) =>
    client.get(path);
const lines = Array.from({ length: 50000 }, (_, i) => `${i},"Name ${i % 900}",${i / 7},note`).join(
  '\n',
);

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'React Router',
  preload: '--import',
  build: [['node_modules/@react-router/dev/bin.js', 'build']],
  args: () => ['node_modules/@react-router/serve/bin.js', 'build/server/index.js'],
  ready: '/health',
  cases: [
    {
      name: 'Markdown in a loader',
      ask: page('/articles/7'),
      varies: true,
      right: { file: 'app/lib/articles.js', in: ['export function renderArticle'] },
    },
    {
      name: 'component of a big table',
      ask: page('/orders'),
      varies: true,
      right: [
        { packages: ['react-dom', 'react', 'react-router'] },
        { file: 'app/routes/orders.jsx' },
      ],
    },
    {
      name: 'd3-force in a loader',
      ask: page('/graph'),
      varies: true,
      right: { file: 'app/lib/layout.js', in: ['export function layOut'] },
    },
    {
      name: 'date-fns while a component renders',
      ask: page('/calendar'),
      varies: true,
      right: { file: 'app/routes/calendar.jsx', in: ['function Calendar'] },
    },
    {
      name: 'regular expression in an action',
      ask: (client) =>
        client.get('/import', {
          method: 'POST',
          body: lines,
          headers: { 'content-type': 'text/csv' },
        }),
      right: { file: 'app/routes/import.js', in: ['export async function action'] },
    },
    {
      name: 'd3-array after a timer',
      ask: page('/report'),
      right: { file: 'app/lib/report.js', in: ['export async function report'] },
    },
    {
      name: 'URLs and JSON in a loader',
      ask: page('/feed'),
      right: { file: 'app/routes/feed.js', in: ['export function loader'] },
    },
  ],
};
