// Payload 3 with SQLite, its REST API, hooks and job queue, served without Next.js.
import { copyFileSync } from 'node:fs';

/** What reads, validates, hooks and hydrates. */
const PAYLOAD = ['payload', '@payloadcms/db-sqlite', '@payloadcms/drizzle'];
const text = (/** @type {number} */ words) =>
  Array.from({ length: words }, (_, i) => `w${(i * 7919) % words}`).join(' ');
const page = (/** @type {number} */ rows) => ({
  json: {
    title: 'New',
    rows: Array.from({ length: rows }, (_, i) => ({ label: `row ${i}`, amount: i, link: {} })),
  },
});

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'Payload',
  build: [['seed.js']],
  preload: '--import',
  args: () => ['server.js'],
  env: ({ data }) => ({ DATABASE: `${data}/payload.db` }),
  prepare: ({ data, folder }) => copyFileSync(`${folder}/seed.db`, `${data}/payload.db`),
  ready: '/api/health',
  cases: [
    {
      name: 'list with rows, blocks and relations, 4 at once',
      ask: (client) => client.together(4, '/api/pages?sort=id&limit=60&depth=1'),
      right: { packages: PAYLOAD },
    },
    {
      name: 'short lists, 20 at once',
      ask: (client) => client.together(20, '/api/pages?sort=id&limit=5&depth=1'),
      right: { packages: PAYLOAD },
    },
    {
      name: 'list among 19 others',
      ask: (client) => client.among(19, '/api/health', '/api/pages?sort=id&limit=60&depth=0'),
      right: { packages: PAYLOAD },
    },
    {
      name: 'page of many rows is created, 4 at once',
      ask: (client) => client.together(4, '/api/pages', page(400)),
      varies: true,
      right: { packages: PAYLOAD },
    },
    {
      name: 'afterRead hook, 6 at once',
      ask: (client) => client.together(6, '/api/invoices?limit=60'),
      varies: true,
      right: { file: 'collections/invoices.js', in: ['function codeOf'] },
    },
    {
      name: 'hooks of a new invoice, 4 at once',
      ask: (client) =>
        client.together(4, '/api/invoices', { json: { customer: 'New', text: text(3000) } }),
      varies: true,
      right: { file: 'collections/invoices.js' },
    },
    {
      name: 'report of an endpoint, 4 at once',
      ask: (client) => client.together(4, '/api/reports/rows'),
      right: { file: 'reports.js', in: ['async function rowReport'] },
    },
    {
      name: 'quadratic endpoint, among 19 others',
      ask: (client) => client.among(19, '/api/health', '/api/reports/similar'),
      right: { file: 'reports.js', in: ['function countPairs', 'function distance'] },
    },
    {
      name: 'job queue: 4 requests queue 16 jobs, then they run',
      ask: async (client) => {
        await client.together(4, '/api/jobs', { method: 'POST' });
        await client.get('/api/payload-jobs/run?limit=16');
      },
      varies: true,
      right: { file: 'jobs.js', in: ['function lettersOf'] },
    },
  ],
};
