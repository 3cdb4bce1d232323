import { serve } from '@hono/node-server';
import { trpcServer } from '@hono/trpc-server';
import { diffWordsWithSpace } from 'diff';
import { Hono } from 'hono';
import superjson from 'superjson';
import { listOrders, migrate } from './db.mjs';
import { renderInvoice } from './invoice.mjs';
import { router } from './router.mjs';
import { highlight } from './source.mjs';

await migrate();
const app = new Hono();

app.use('/upload', async (c, next) => {
  const body = Buffer.from(await c.req.arrayBuffer());
  let a = 1;
  let b = 0;
  for (const byte of body) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  c.set('digest', b * 65536 + a);
  await next();
});
app.get('/health', (c) => c.text('ok'));
app.put('/upload', (c) => c.json({ digest: c.get('digest') }));
app.post('/diff', async (c) => {
  const { before, after } = await c.req.json();
  const parts = diffWordsWithSpace(before, after);
  return c.json({ parts: parts.length });
});
app.get('/source', async (c) => c.html(await highlight()));
app.get('/dump', async (c) => {
  const orders = await listOrders(6000);
  return c.json(superjson.serialize({ orders, tags: new Set(['a', 'b']) }));
});
app.get('/invoice', async (c) => {
  const orders = await listOrders(4000);
  return c.html(renderInvoice(orders));
});
app.use('/trpc/*', trpcServer({ router }));

const server = serve(
  { fetch: app.fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' },
  () => console.log('listening'),
);
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
