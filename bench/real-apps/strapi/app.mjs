// Strapi 5, the whole product, with SQLite: content types, and the code of a project around them.
import { copyFileSync } from 'node:fs';

/** What hydrates, sanitizes, validates and serializes; `@strapi/strapi` only starts it. */
const STRAPI = ['core', 'database', 'types', 'utils'].map((name) => `@strapi/${name}`);
const list = (/** @type {number} */ limit) => `pagination[limit]=${limit}`;
const all = '/api/articles?populate=*&';
const words = (/** @type {number} */ count) =>
  Array.from({ length: count }, (_, i) => `word${(i * 7919) % count}`).join(' ');
const section = (/** @type {number} */ i) => ({
  heading: `Part ${i}`,
  text: 'a text',
  position: i,
});
const article = (/** @type {number} */ sections, /** @type {number} */ count) => ({
  json: {
    data: {
      title: 'New',
      text: words(count),
      sections: Array.from({ length: sections }, (_, i) => section(i)),
    },
  },
});
const rows = (/** @type {number} */ count) => Array.from({ length: count }, (_, i) => section(i));
const CORE = 'src/api/article';

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'Strapi',
  build: [['seed.cjs']],
  args: () => ['node_modules/@strapi/strapi/bin/strapi.js', 'start'],
  env: ({ data }) => ({
    DATABASE: `${data}/strapi.db`,
    STRAPI_TELEMETRY_DISABLED: 'true',
    STRAPI_DISABLE_UPDATE_NOTIFICATION: 'true',
  }),
  prepare: ({ data, folder }) => copyFileSync(`${folder}/seed.db`, `${data}/strapi.db`),
  ready: '/api/tags?pagination[limit]=1',
  cases: [
    {
      name: 'list with relations and components, 4 at once',
      ask: (client) => client.together(4, `${all}${list(200)}`),
      right: { packages: STRAPI },
    },
    {
      name: 'short lists, 20 at once',
      ask: (client) => client.together(20, `${all}${list(20)}`),
      right: { packages: STRAPI },
    },
    {
      name: 'list of tags with their articles, among 19 others',
      ask: (client) =>
        client.among(19, `/api/tags?${list(1)}`, `/api/tags?populate[articles][populate]=*`),
      right: { packages: STRAPI },
    },
    {
      name: 'article of many sections is created, 4 at once',
      ask: (client) => client.together(4, '/api/articles', article(150, 10)),
      varies: true,
      right: { packages: STRAPI },
    },
    {
      name: 'lifecycle hook, 4 at once',
      ask: (client) => client.together(4, '/api/articles', article(1, 4000)),
      varies: true,
      right: { file: `${CORE}/content-types/article/lifecycles.js` },
    },
    {
      name: 'report of a controller, 4 at once',
      ask: (client) => client.together(4, '/api/reports/words'),
      right: { file: `${CORE}/controllers/article.js`, in: ['async words('] },
    },
    {
      name: 'quadratic service, among 19 others',
      ask: (client) => client.among(19, `/api/tags?${list(1)}`, '/api/reports/similar'),
      right: { file: `${CORE}/services/article.js`, in: ['async similar('] },
    },
    {
      name: 'documents in a service, 6 at once',
      ask: (client) => client.together(6, '/api/reports/titles'),
      right: [{ packages: STRAPI }, { file: `${CORE}/services/article.js`, in: ['async export('] }],
    },
    {
      name: 'checksum after next(), 4 at once',
      ask: (client) => client.together(4, `/api/reports/all?${list(100)}`),
      right: { file: `${CORE}/middlewares/checksum.js`, in: ['function checksumOf'] },
    },
    {
      name: 'policy that reads the body, 8 at once',
      ask: (client) => client.together(8, '/api/imports', { json: rows(12000) }),
      right: { file: 'src/policies/signature.js' },
    },
    {
      name: 'queue with a timer, 4 at once',
      ask: async (client) => {
        await client.together(4, '/api/reindex', { method: 'POST' });
        await new Promise((resolve) => setTimeout(resolve, 1500));
      },
      right: { file: `${CORE}/services/article.js`, in: ['function trigrams'] },
    },
  ],
};
