// Hono with tRPC and drizzle, as ES modules.
import { Buffer } from 'node:buffer';

const trpc =
  (/** @type {string} */ path, /** @type {unknown} */ input) =>
  (/** @type {import('../support/client.mjs').Client} */ client) =>
    client.get(`/trpc/${path}?input=${encodeURIComponent(JSON.stringify(input))}`);

/** After `await import('shiki')` nothing of the application is on the stack. */
const SHIKI = ['shiki', '@shikijs/core', '@shikijs/engine-oniguruma', '@shikijs/vscode-textmate'];

/** @type {import('../support/launch.mjs').App} */
export default {
  title: 'Hono, tRPC and drizzle',
  needsNode: 22,
  preload: '--import',
  args: () => ['src/server.mjs'],
  env: ({ data }) => ({ DATABASE: `file:${data}/shop.db` }),
  ready: '/health',
  cases: [
    {
      name: 'tRPC query that groups rows after await of drizzle',
      ask: trpc('sales', { days: 3 }),
      right: { file: 'src/router.mjs', in: ['sales: publicProcedure'] },
    },
    {
      name: 'drizzle maps a big result',
      ask: trpc('orders', { limit: 9000 }),
      right: [
        { file: 'src/router.mjs', in: ['orders: publicProcedure'] },
        { packages: ['drizzle-orm', '@libsql/client'] },
      ],
    },
    {
      name: 'zod parses a big mutation input',
      ask: (client) =>
        client.get('/trpc/importOrders', {
          json: Array.from({ length: 20000 }, (_, i) => ({
            customer: `Customer ${i}`,
            email: `c${i}@example.com`,
            total: i,
            lines: [{ sku: `S${i}`, quantity: 1 }],
          })),
        }),
      right: { packages: ['@trpc/server', 'zod'] },
    },
    {
      name: 'fuzzy search in a service',
      ask: trpc('search', { text: 'custmer nuber 77' }),
      right: { file: 'src/search.mjs', in: ['export function findCustomers'] },
    },
    {
      name: 'diff of two documents in a route',
      ask: (client) =>
        client.get('/diff', {
          json: {
            before: Array.from({ length: 2500 }, (_, i) => `word${i % 83}`).join(' '),
            after: Array.from({ length: 2500 }, (_, i) => `word${i % 79}`).join(' '),
          },
        }),
      right: { file: 'src/server.mjs', in: ["app.post('/diff'"] },
    },
    {
      name: 'highlighted code, the highlighter loaded on demand',
      ask: (client) => client.get('/source'),
      right: [
        { file: 'src/source.mjs', in: ['export async function highlight'] },
        // It has returned by then, and the route waits for it.
        { file: 'src/server.mjs', in: ["app.get('/source'"] },
        { packages: SHIKI },
      ],
    },
    {
      name: 'middleware that checks a sum of the body',
      ask: (client) =>
        client.get('/upload', { method: 'PUT', body: Buffer.alloc(9_000_000, 'abc') }),
      right: { file: 'src/server.mjs', in: ["app.use('/upload'"] },
    },
    {
      name: 'JSON of a route with superjson',
      ask: (client) => client.get('/dump'),
      right: { file: 'src/server.mjs', in: ["app.get('/dump'"] },
    },
    {
      name: 'template of JSX-less html in a loop',
      ask: (client) => client.get('/invoice'),
      right: { file: 'src/invoice.mjs', in: ['export function renderInvoice', 'const row = '] },
    },
  ],
};
