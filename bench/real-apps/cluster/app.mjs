// cluster with two workers, of Koa.
/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'cluster with Koa',
  preload: '--import',
  args: () => ['main.mjs'],
  ready: '/health',
  cases: [
    {
      name: 'ajv compiles a schema for each request',
      ask: (client) => client.get('/validate', { json: { fields: 90 } }),
      right: { file: 'routes.mjs', in: ["router.post('/validate'"] },
    },
    {
      name: 'YAML read in a handler',
      ask: (client) => client.get('/deployments'),
      right: { file: 'deployments.mjs', in: ['export async function loadDeployments'] },
    },
    {
      name: 'nunjucks template',
      ask: (client) => client.get('/report'),
      right: { file: 'routes.mjs', in: ["router.get('/report'"] },
    },
    {
      name: 'filter of a template',
      ask: (client) => client.get('/calendar'),
      right: { file: 'filters.mjs', in: ['export function localDate'] },
    },
    {
      name: 'statistics of many numbers',
      ask: (client) => client.get('/percentiles'),
      right: { file: 'statistics.mjs', in: ['export function summarize'] },
    },
    {
      name: 'JSON of the body parser',
      ask: (client) =>
        client.get('/bulk', {
          json: Array.from({ length: 60000 }, (_, i) => ({
            id: i,
            name: `n${i}`,
            tags: ['a', 'b', { c: i }],
          })),
        }),
      right: { packages: ['koa-bodyparser', 'co-body', '@hapi/bourne'] },
    },
    {
      name: 'middleware that minifies the page after next()',
      ask: (client) => client.get('/page'),
      right: { file: 'middleware.mjs', in: ['export async function minify'] },
    },
    {
      name: 'gzipSync in a handler',
      ask: (client) => client.get('/backup'),
      varies: true,
      right: { file: 'routes.mjs', in: ["router.get('/backup'"] },
    },
  ],
};
